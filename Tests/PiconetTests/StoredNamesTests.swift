import PiconetEngine
import PiconetWire
import Testing

@testable import Piconet

@Suite("Names that runs of senders have used")
struct StoredNamesTests {
  private func sender(_ number: UInt64) throws -> NodeID {
    NodeID(
      peer: try #require(PeerID(bytes: [UInt8](repeating: 1, count: 32))), incarnation: Incarnation(rawValue: number))
  }

  @Test("each may be replaced once by a run; one that differs in case only where it is another file")
  func once() throws {
    let names = StoredNames()
    #expect(names.mayReplace("a.jpg", of: try sender(1)) == .allowed)
    #expect(names.mayReplace("a.jpg", of: try sender(1)) == .never)
    #expect(names.mayReplace("A.jpg", of: try sender(1)) == .exactly)
    #expect(names.mayReplace("a.jpg", of: try sender(2)) == .allowed)
  }

  @Test("of a run that goes on storing are kept, however many others come and go")
  func kept() throws {
    let names = StoredNames()
    #expect(names.mayReplace("a.jpg", of: try sender(0)) == .allowed)
    for number in 1...UInt64(4 * StoredNames.senders) {
      #expect(names.mayReplace("a.jpg", of: try sender(number)) == .allowed)
      #expect(names.mayReplace("a.jpg", of: try sender(0)) == .never)
    }
    // One that has stored nothing meanwhile is forgotten.
    #expect(names.mayReplace("a.jpg", of: try sender(1)) == .allowed)
  }

  @Test("of all runs together are bounded: those that have stored nothing for longest are forgotten")
  func bounded() throws {
    let names = StoredNames(atMost: 100)
    for run in 1...UInt64(3) {
      for number in 0..<40 { #expect(names.mayReplace("\(number).jpg", of: try sender(run)) == .allowed) }
    }
    #expect(names.mayReplace("0.jpg", of: try sender(2)) == .never)
    #expect(names.mayReplace("0.jpg", of: try sender(3)) == .never)
    #expect(names.mayReplace("0.jpg", of: try sender(1)) == .allowed)
  }
}
