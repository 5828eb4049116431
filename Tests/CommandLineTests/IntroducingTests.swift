import Piconet
import Testing

@testable import PiconetCommandLine

private func node(_ number: Int) -> NodeID {
  NodeID(
    peer: PeerID(hexadecimal: String(repeating: "a\(number)", count: 32))!,
    incarnation: Incarnation(rawValue: UInt64(number)))
}

@Suite("Which members a relay introduces")
struct IntroducingTests {
  @Test("a relay introduces each receiver to each sender, in any order, and no two of one kind")
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

  @Test("one pair at a time, however often one of them leaves and comes again")
  func once() {
    var introducing = Introducing()
    _ = introducing.joined(node(1), isReceiver: true)
    let pair = introducing.joined(node(2), isReceiver: false)[0]
    introducing.left(node(2))
    #expect(introducing.joined(node(2), isReceiver: false).isEmpty, "it goes on")
    let goesOn = introducing.goesOn(pair)
    introducing.left(node(2))
    let goesOnWithoutOne = introducing.goesOn(pair)
    #expect(goesOn && !goesOnWithoutOne)
    #expect(introducing.joined(node(2), isReceiver: false) == [pair])
  }

  @Test("a relay tries again at once after silence, later after a lack of room, and after minutes if one refuses")
  func again() {
    func pause(_ code: PiconetError.Code, _ time: Duration = .zero) -> Duration {
      Introducing.pause(after: PiconetError(code, blame: .peer), standing: time)
    }
    #expect(pause(.timedOut, Introducing.time) < .seconds(1))
    #expect(pause(.timedOut) > .seconds(5), "that is somebody's word, and nobody has waited")
    for code in [PiconetError.Code.limitExceeded, .full, .unreachable] {
      #expect(pause(code) == .seconds(15), "\(code)")
    }
    for code in [PiconetError.Code.declined, .removed, .notSupported] {
      #expect(pause(code) >= .seconds(60), "\(code)")
    }
    #expect(Introducing.pause(after: nil, standing: .zero) == .seconds(15))
  }
}

@Suite("A relay of a receiver")
struct RelayConsentTests {
  @Test("a receiver takes no files of its relay, nor of a device that was not let in to send")
  func refused() {
    let (relay, other) = (node(1), node(2))
    let consents = Consents(hasRelay: true)
    #expect(consents.refusal(of: "a.jpg", bytes: 1, from: relay) == .relay)
    consents.letIn(other)
    #expect(consents.refusal(of: "a.jpg", bytes: 1, from: other) == nil)
    #expect(consents.refusal(of: "a.jpg", bytes: 1, from: relay) == .relay)
    #expect(consents.refusal(of: "a.jpg", bytes: 1, from: relay, hasProvenCode: true) == nil)
    consents.forget(other)
    #expect(consents.refusal(of: "a.jpg", bytes: 1, from: other) == .relay, "it has to be let in again")
    #expect(Consents().refusal(of: "a.jpg", bytes: 1, from: other) == nil)
  }
}
