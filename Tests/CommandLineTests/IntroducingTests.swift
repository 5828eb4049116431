import Piconet
import Testing

@testable import PiconetCommandLine

private func node(_ number: Int) -> NodeID {
  NodeID(
    peer: PeerID(hexadecimal: String(repeating: "a\(number)", count: 32))!,
    incarnation: Incarnation(rawValue: UInt64(number)))
}

@Suite("Whom a relay introduces")
struct IntroducingTests {
  @Test("each receiver to each sender, whoever comes first, and nobody of one kind to each other")
  func pairs() {
    var introducing = Introducing()
    #expect(introducing.joined(node(1), isReceiver: true).isEmpty)
    #expect(introducing.joined(node(2), isReceiver: true).isEmpty)
    #expect(
      introducing.joined(node(3), isReceiver: false)
        == [.init(sender: node(3), receiver: node(1)), .init(sender: node(3), receiver: node(2))])
    #expect(
      introducing.joined(node(4), isReceiver: false)
        == [.init(sender: node(4), receiver: node(1)), .init(sender: node(4), receiver: node(2))])
    #expect(
      introducing.joined(node(5), isReceiver: true)
        == [.init(sender: node(3), receiver: node(5)), .init(sender: node(4), receiver: node(5))])
  }

  @Test("only while both are there")
  func left() {
    var introducing = Introducing()
    _ = introducing.joined(node(1), isReceiver: true)
    let pair = introducing.joined(node(2), isReceiver: false)[0]
    #expect(introducing.contains(pair))
    introducing.left(node(1))
    #expect(!introducing.contains(pair))
    #expect(introducing.joined(node(3), isReceiver: false).isEmpty)
    // As the other kind when it comes again.
    #expect(introducing.joined(node(1), isReceiver: false).isEmpty)
  }

  @Test("at once where nobody has answered, later where there was no room, and never again where one of them refuses")
  func again() {
    func pause(_ code: PiconetError.Code) -> Duration? {
      Introducing.pause(after: PiconetError(code, blame: .peer))
    }
    #expect(pause(.timedOut).map { $0 < .seconds(1) } == true)
    for code in [PiconetError.Code.limitExceeded, .full, .unreachable] {
      #expect(pause(code).map { $0 >= .seconds(5) } == true, "\(code)")
    }
    for code in [PiconetError.Code.declined, .removed, .notSupported, .notConnected] {
      #expect(pause(code) == nil, "\(code)")
    }
    #expect(Introducing.pause(after: nil).map { $0 >= .seconds(5) } == true)
  }
}

@Suite("A relay of a receiver")
struct RelayConsentTests {
  @Test("has none of its own files taken, whatever was agreed to")
  func refused() {
    let (relay, other) = (node(1), node(2))
    let consents = Consents { $0 == relay }
    #expect(consents.refusal(of: "a.jpg", bytes: 1, from: other) == nil)
    #expect(consents.refusal(of: "a.jpg", bytes: 1, from: relay) == .relay)
    consents.agree(to: .all, of: nil, from: relay)
    #expect(consents.refusal(of: "a.jpg", bytes: 1, from: relay) == .relay)
  }
}
