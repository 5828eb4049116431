import Testing

@testable import PiconetCommandLine

@Suite("Notes during a search for peers")
struct SearchNotesTests {
  private typealias Seen = SearchNotes.Seen

  /// The notes at these moments, in milliseconds.
  private func told(_ looks: [(Int, SearchNotes.Seen)]) -> [Int: [SearchNotes.Note]] {
    var notes = SearchNotes()
    return looks.reduce(into: [:]) { told, look in
      let due = notes.due(at: .milliseconds(look.0), look.1)
      if !due.isEmpty { told[look.0] = due }
    }
  }

  @Test("the note of the search comes within a second, but not at once, and after a while that no peer is in sight")
  func nobody() {
    let moments = [0, 250, 500, 750, 1_000, 2_000, 3_000, 4_000, 5_000].map { ($0, Seen()) }
    #expect(told(moments) == [250: [.looking], 3_000: [.nobody]])
    #expect(SearchNotes.lookingTime < .seconds(1))
  }

  @Test("peers of a similar name are named once, and again when there are more of them")
  func near() {
    let one = Seen(names: ["Hall"], near: "did you mean 'Hall'?")
    let two = Seen(names: ["Hall", "Halle"], near: "did you mean 'Hall' or 'Halle'?")
    #expect(
      told([(0, Seen()), (500, one), (1_000, one), (2_000, one), (3_000, two), (4_000, one), (5_000, Seen())])
        == [500: [.looking], 1_000: [.near("did you mean 'Hall'?")], 3_000: [.near("did you mean 'Hall' or 'Halle'?")]])
    let changing = (1...100).map { ($0 * 1_000, Seen(names: ["x"], near: "\($0)")) }
    #expect(told(changing).count == SearchNotes.nearTold)
  }

  @Test("the other peers are named, if none has a similar name")
  func others() {
    let seen = Seen(names: (1...9).map { "Peer \($0)" })
    let notes = told([(1_000, seen), (3_000, seen), (4_000, seen)])
    #expect(notes == [1_000: [.looking], 3_000: [.others((1...5).map { "Peer \($0)" })]])
  }

  @Test("the lack of a network is told at once, then its return, and no guess at receivers in between")
  func network() {
    let lack = Seen(networkLack: "none")
    #expect(
      told([(0, lack), (250, lack), (1_000, lack), (3_000, lack), (5_000, Seen()), (6_000, Seen()), (8_000, Seen())])
        == [0: [.looking, .noNetwork("none")], 5_000: [.network], 8_000: [.nobody]])
  }

  @Test("nothing of others as long as one in sight has the wanted name, whatever keeps it from being meant")
  func named() {
    let seen = Seen(names: ["Kitchen"], isNamed: true)
    #expect(told([(1_000, seen), (3_000, seen), (9_000, seen)]) == [1_000: [.looking]])
  }
}
