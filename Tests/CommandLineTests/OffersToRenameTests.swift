import Piconet
import Testing

@testable import PiconetCommandLine

@Suite("Offers that a disk refuses for their names")
struct OffersToRenameTests {
  private typealias Offers = OffersToRename<Int>
  private let failure = TransferFailure(word: "name-refused", message: "no", exitCode: .refused)

  private func key(_ sender: UInt8 = 1, _ identity: [UInt8] = [1], size: UInt64 = 5) -> Offers.Key {
    let peer = PeerID(bytes: [UInt8](repeating: sender, count: 32))!
    return Offers.Key(
      sender: NodeID(peer: peer, incarnation: Incarnation(rawValue: 1)), identity: identity, size: size)
  }

  private func held(_ name: String) -> Offers.Held { Offers.Held(offer: 0, name: name, failure: failure) }

  @Test("have failed once their sender has left, unless the same content came again")
  func again() {
    var offers = Offers()
    var areHeld: [Bool] = []
    for (number, name) in ["x/b?.jpg", "a:b.jpg", "c|.jpg"].enumerated() {
      areHeld.append(offers.hold(key(1, [UInt8(number)]), held(name)))
    }
    areHeld.append(offers.hold(key(2), held("other*.jpg")))
    #expect(areHeld == [true, true, true, true])
    offers.cameAgain(key(1, [2]))
    offers.cameAgain(key(1, [0], size: 6))
    let (own, rest) = (offers.takeAll(of: key().sender), offers.takeAll(of: nil))
    let none = offers.takeAll(of: nil)
    #expect(own.map(\.name) == ["a:b.jpg", "x/b?.jpg"])
    #expect(rest.map(\.name) == ["other*.jpg"] && none.isEmpty)
  }

  @Test("have failed at once if nothing says that they may come again, or too many wait")
  func atOnce() {
    var offers = Offers()
    let areHeld = [
      offers.hold(key(), held("plain.jpg")), offers.hold(key(1, []), held("a:b.jpg")),
      offers.hold(key(), held("a:b/plain.jpg")), offers.hold(key(), held("a:b/plain.jpg")),
    ]
    #expect(areHeld == [false, false, true, false])
    var count = 1
    while offers.hold(key(1, [UInt8(count & 255), UInt8(count >> 8), 0]), held("a:b.jpg")) { count += 1 }
    #expect(count == CommandLineLimits.offersToRename)
  }
}
