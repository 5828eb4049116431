import Testing

@testable import PiconetCommandLine

@Suite("Which name may have been meant")
struct NearNamesTests {
  private let names = ["Hall", "Living room", "Phone 1", "Phone 11", "Küche", "PC", "写真館"]

  private func near(_ typed: String) -> [String] { NearNames.near(typed, among: names) }

  @Test("one with a slip of the keyboard in it")
  func slips() {
    #expect(near("Livng room") == ["Living room"])
    #expect(near("lviing romo") == ["Living room"])
    #expect(near("hal") == ["Hall"])
    #expect(near("Phone1") == ["Phone 1", "Phone 11"])
    #expect(near("kuche") == ["Küche"])
    #expect(near("写真") == ["写真館"])
  }

  @Test("one that begins so, or of which a word was typed, or that is a word of what was typed")
  func words() {
    #expect(near("liv") == ["Living room"])
    #expect(near("room") == ["Living room"])
    #expect(near("ROOM living") == ["Living room"])
    #expect(near("Living room tablet") == ["Living room"])
    #expect(near("phone") == ["Phone 1", "Phone 11"])
  }

  @Test("no name that is merely short, and no unrelated name")
  func far() {
    for typed in ["Nowhere", "TV", "P", "", " ", "bedroom", "'"] { #expect(near(typed).isEmpty, "\(typed)") }
  }

  @Test("a flood of names is not searched whole, and no more than three names are suggested")
  func flood() {
    let flood = (0..<5_000).map { "Phone \($0)" }
    #expect(NearNames.near("Phone", among: flood) == ["Phone 0", "Phone 1", "Phone 2"])
    #expect(NearNames.near("Phone 4999", among: flood).allSatisfy { flood.prefix(NearNames.mostLookedAt).contains($0) })
    let marks = "a" + String(repeating: "\u{301}", count: 31)
    #expect(NearNames.near("ab", among: [marks]).isEmpty)
  }

  @Test("letters that are put in, left out, exchanged and swapped count one each")
  func distance() {
    for (one, other, count) in [
      ("", "", 0), ("", "abc", 3), ("abc", "abc", 0), ("abc", "abxc", 1), ("abc", "ac", 1), ("abc", "axc", 1),
      ("abc", "acb", 1), ("kitten", "sitting", 3), ("ca", "abc", 3),
    ] {
      #expect(EditDistance.between(Array(one), Array(other)) == count)
      #expect(EditDistance.between(Array(other), Array(one)) == count)
    }
  }
}
