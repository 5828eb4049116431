import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("A link that loses what is not read in time")
struct UnreadLimitTests {
  private func one(unreadLimit: Int?, _ change: (inout EngineConfiguration) -> Void = { _ in }) -> OneSided {
    let one = OneSided(configuration(change))
    one.traits.unreadLimit = unreadLimit
    return one
  }

  private func statedWindow(_ one: OneSided) -> UInt64? {
    for case .hello(let hello) in one.open().frames { return hello.limits.messageWindow }
    return nil
  }

  @Test("the message window that our hello states is half of what the link holds")
  func messageWindow() {
    #expect(statedWindow(one(unreadLimit: nil)) == 1 << 20)
    #expect(statedWindow(one(unreadLimit: 400_000)) == 200_000)
    #expect(statedWindow(one(unreadLimit: 4 << 20)) == 1 << 20)
  }

  @Test("a message of the limit fits into the window however little the link holds")
  func messageOfTheLimit() {
    #expect(statedWindow(one(unreadLimit: 1_000)) == UInt64(95 * 1024 + WireLimits.messageCost))
  }

  @Test("transfers of one peer share the other half, each at least a frame")
  func transferWindows() {
    let one = one(unreadLimit: 200_000).connected()
    one.side.answersDisk = false
    var limits: [UInt64] = []
    for number in 0..<10 as Range<UInt64> {
      one.receive(.offer(transfer: number, ResourceOffer(name: [1], size: 1 << 30)))
      let id = TransferID(rawValue: TransferID.firstIncoming + number)
      for case .acceptOffer(_, _, let limit) in one.side.command(.acceptOffer(id, offset: 0)).frames {
        limits.append(limit)
      }
    }
    #expect(limits.prefix(3) == [100_000, 50_000, 33_333])
    #expect(limits.suffix(2) == [16_381, 16_381])
  }
}
