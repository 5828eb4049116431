import Testing

@testable import Piconet

@Suite("How an incoming transfer stands")
struct IncomingTransferStateTests {
  private final class Offer: Sendable {}

  @Test(
    "once it has ended it holds nothing of whom it told of its progress, who may hold it", arguments: [false, true])
  func letsGo(endsFirst: Bool) {
    let state = IncomingTransferState(total: 1)
    weak var held: Offer?
    do {
      let offer = Offer()
      held = offer
      if endsFirst { state.end(nil) }
      #expect(state.claim { _, _ in withExtendedLifetime((offer, state)) {} })
      #expect((held == nil) == false)
    }
    if !endsFirst {
      #expect(held != nil)
      state.end(nil)
    }
    #expect(held == nil)
  }
}
