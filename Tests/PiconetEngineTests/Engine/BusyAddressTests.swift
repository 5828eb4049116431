import PiconetWire
import Testing

@testable import PiconetEngine

/// RFCOMM has one connection to each channel of a device: a second dial is told that it is busy.
@Suite("A busy address where we hold a link already")
struct BusyAddressTests {
  private let busy = LinkFailure(.busy, "there is a connection")

  /// An association over a link that we dialled; the remote side has declined our first invitation.
  private func declined(remoteAddress: String = "far") -> OneSided {
    let one = OneSided()
    one.traits.remoteAddress = remoteAddress
    one.invite()
    one.side.take(.linkOpened(one.link, one.opening(dial: DialID(rawValue: 1))))
    one.receive(one.hello())
    one.receive(.associate(AssociationID(high: 1, low: 2), received: 0))
    one.receive(.decline(.declined, detail: ""))
    return one
  }

  private func invites(_ outcome: Outcome) -> Bool {
    outcome.frames.contains { if case .invite = $0 { true } else { false } }
  }

  private func ending(_ outcome: Outcome, of command: UInt64) -> Ending? {
    for case .failed(let ending) in outcome.replies(to: command) { return ending }
    return nil
  }

  @Test("the next invitation goes over the link that there is", arguments: ["far", "far/7"])
  func goesOverIt(remoteAddress: String) {
    let one = declined(remoteAddress: remoteAddress)
    #expect(!invites(one.invite(id: 2)))
    #expect(invites(one.side.take(.dialFailed(DialID(rawValue: 2), busy))))
    #expect(one.receive(.accept).replies(to: 2) == [.connected(one.far)])
  }

  @Test("a member is said to be one")
  func member() {
    let one = declined()
    one.invite(id: 2)
    one.side.take(.dialFailed(DialID(rawValue: 2), busy))
    one.receive(.accept)
    one.invite(id: 3)
    let outcome = one.side.take(.dialFailed(DialID(rawValue: 3), busy))
    #expect(ending(outcome, of: 3)?.reason == .alreadyConnected)
  }

  @Test("another failure, or a link to another address, is no link to the one that is meant")
  func anotherAddress() {
    for (address, failure) in [("far", LinkFailure(.refused)), ("elsewhere", busy), ("farther", busy)] {
      let one = declined(remoteAddress: address)
      one.invite(id: 2)
      let outcome = one.side.take(.dialFailed(DialID(rawValue: 2), failure))
      #expect(!invites(outcome) && ending(outcome, of: 2)?.reason == .unreachable, "\(address) \(failure)")
    }
  }

  @Test("a link that the remote side has dialled proves nothing about where it listens")
  func incoming() {
    let one = OneSided().associated()
    one.invite()
    let outcome = one.side.take(.dialFailed(DialID(rawValue: 1), busy))
    #expect(!invites(outcome) && ending(outcome, of: 1)?.reason == .unreachable)
  }

  @Test("another key than the expected one is refused")
  func anotherKey() {
    let one = declined()
    one.side.command(.invite(.addresses([tcp("far")], expected: peer(77)), context: [], timeout: .seconds(30)), id: 2)
    let outcome = one.side.take(.dialFailed(DialID(rawValue: 2), busy))
    #expect(!invites(outcome) && ending(outcome, of: 2)?.reason == .identity)
  }
}
