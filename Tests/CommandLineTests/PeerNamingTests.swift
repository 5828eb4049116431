import Piconet
import Testing

@testable import PiconetCommandLine

@Suite("How peers are called on the screen")
struct PeerNamingTests {
  private func key(_ digits: String) throws -> PeerID {
    try #require(PeerID(hexadecimal: digits + String(repeating: "0", count: 64 - digits.count)))
  }

  private func naming() throws -> PeerNaming {
    var known = KnownPeers(path: "/p")
    try known.take(key("a1"), name: "Mum", at: 0, confirmed: .code, rights: [])
    try known.take(key("a2"), name: "Old one", at: 0, confirmed: .firstUse, rights: [])
    try known.block(key("a3"), at: 0)
    return PeerNaming(known: known)
  }

  @Test("a known peer by its petname beside its own name, a stranger by its own name and the peer it looks like")
  func notes() throws {
    let naming = try naming()
    let shown = PeersShown([(PeerID, String)](), naming)
    func text(_ digits: String, _ name: String) throws -> String {
      let peer = try key(digits)
      return "\(naming.name(peer, calledItself: name)) (\(shown.note(peer, calledItself: name)))"
    }
    #expect(try text("a1", "Mum") == "Mum (a10000000000, known)")
    #expect(try text("a1", "Printer") == "Mum (a10000000000, calls itself 'Printer', known)")
    #expect(try text("a2", "Old one") == "Old one (a20000000000, known, not confirmed)")
    #expect(try text("a3", "Bad") == "a30000000000 (a30000000000, calls itself 'Bad', blocked)")
    #expect(try text("b1", "Anna") == "Anna (b10000000000)")
    #expect(try text("b1", "MUM") == "MUM (b10000000000, not the known 'Mum')")
  }

  @Test("in a message of the library known devices get their names, in their order, and strangers keep their digits")
  func withNames() throws {
    let naming = try naming()
    let words = "identity: expected a20000000000, but a10000000000 answers there"
    let named = naming.withNames(words)
    #expect(named.message == "identity: expected 'Old one' (a20000000000), but 'Mum' (a10000000000) answers there")
    #expect(named.names == ["Old one", "Mum"])
    let stranger = naming.withNames("expected b10000000000, but a1000000000 answers there")
    #expect(stranger.message == "expected b10000000000, but a1000000000 answers there" && stranger.names == [])
  }

  @Test("a stranger's own words are in quotation marks where they look like what is known of a device, or like nothing")
  func ownWords() {
    let console = Console(program: "imagerecv", json: false, verbosity: Verbosity())
    for plain in ["Anna", "Ada's phone", "Küche, oben"] { #expect(console.ownWords(plain) == plain) }
    #expect(console.ownWords("Mum (9f86d081884c), known") == "'Mum (9f86d081884c), known'")
    #expect(console.ownWords("Mum' （9f86d081884c") == "'Mum\\' （9f86d081884c'")
    #expect(console.ownWords("") == "''" && console.ownWords("\u{3000} ") == "'\u{3000} '")
  }

  @Test("a petname that ends with the digits of its own key is shown with them once; with other digits as it is")
  func digitsOnce() throws {
    let naming = try naming()
    var known = naming.known
    for digits in ["c1", "c2"] { try known.take(key(digits), name: "mum", at: 0, confirmed: .code, rights: []) }
    #expect(try known[key("c1")]?.name == "mum (c10000000000)")
    let entry = try #require(try known[key("c1")])
    #expect(entry.nameBeforeDigits == "mum")
    #expect(entry.otherName("mum") == nil && entry.otherName("mum (c10000000000)") == nil)
    #expect(entry.otherName("Printer") == "Printer")
    let shown = PeersShown([(PeerID, String)](), PeerNaming(known: known))
    #expect(try shown.note(key("c1"), calledItself: "mum") == "c10000000000, known")
    // However many of its digits it ends with, they are its own.
    for digits in ["c10000000000", "c1000000000000000000"] {
      try known.rename(key("c1"), to: "mum (\(digits))")
      #expect(try known[key("c1")]?.nameBeforeDigits == "mum", "\(digits)")
      #expect(RememberedName("mum (\(digits))", in: PeerNaming(known: known).fingerprints).keys.count == 1)
    }
    let meant = RememberedName("mum", in: PeerNaming(known: known).fingerprints)
    #expect(try Set([key("c1"), key("c2")].map(\.description)).isSubset(of: meant.keys), "\(meant.keys)")
    try known.forget(key("c2"))
    try known.take(key("c3"), name: "Hall (c20000000000)", at: 0, confirmed: .code, rights: [])
    #expect(try known[key("c3")]?.nameBeforeDigits == "Hall (c20000000000)")
  }

  @Test("as many digits are shown as tell a peer from all that look like it, known or in sight")
  func digits() throws {
    func zeros(_ count: Int) -> String { String(repeating: "0", count: count) }
    let (one, other, far) = (try key("b1"), try key("b1" + zeros(19) + "1"), try key("c1"))
    let shown = PeersShown([(one, "Hall"), (other, "hаll"), (far, "Attic")], try naming())
    let near = try key("a1" + zeros(14) + "1")
    #expect(shown.note(near, calledItself: "mum") == "a1\(zeros(14))1000, not the known 'Mum'")
    #expect(shown.note(one, calledItself: "Hall") == "b1\(zeros(22))")
    #expect(shown.note(other, calledItself: "hаll") == "b1\(zeros(19))100")
    #expect(shown.note(far, calledItself: "Attic") == "c10000000000")
  }

  @Test("digits of another key do not pass for a device's: the name is in quotation marks, a known one's too")
  func otherDigits() throws {
    var known = try naming().known
    try known.take(key("d1"), name: "Mum (a10000000000)", at: 0, confirmed: .code, rights: [])
    let naming = PeerNaming(known: known)
    #expect(try naming.imitated(key("b1"), calledItself: "MUM (a10000000000)") == "Mum")
    #expect(try naming.imitated(key("b1"), calledItself: "Hall (a10000000000)") == nil)
    let console = Console(program: "imagesend", json: false, verbosity: Verbosity())
    #expect(try known[key("d1")].map(console.petname) == "'Mum (a10000000000)'")
    #expect(try known[key("d1")]?.name == "Mum (a10000000000) (d10000000000)")
    #expect(try known[key("a1")].map(console.petname) == "Mum")
  }

  @Test("a blocked device's petname means only that device, and nothing goes there")
  func blocked() throws {
    let naming = try naming()
    let bad = "a30000000000"
    #expect(naming.fingerprints.keys.sorted() == ["Mum", "Old one", bad].sorted())
    #expect(try naming.blockade([key("a3")]) == "it is blocked; lift that with: piconet trust unblock \(bad)")
    #expect(try naming.blockade([key("a1"), key("a3")]) == nil && naming.blockade([]) == nil)
    // Version 1 may have two of one name.
    let keys = try [key("b1"), key("b2")]
    let lines = keys.map { "\($0)\tBen\t0\n" }.joined()
    var known = try KnownPeers(path: "/p", text: Array(lines.utf8))
    try known.block(keys[0], at: 0)
    #expect(PeerNaming(known: known).fingerprints == ["Ben": [keys[1].description]])
    // A blocked device that took the name first does not keep it from the device that has it with digits.
    known = naming.known
    for digits in ["c1", "c2"] { try known.take(key(digits), name: "Kitchen", at: 0, confirmed: .code, rights: []) }
    try known.block(key("c1"), at: 0)
    let meant = RememberedName("Kitchen", in: PeerNaming(known: known).fingerprints)
    #expect(try meant.keys == [key("c2").description] && known[key("c2")]?.name == "Kitchen (c20000000000)")
  }
}
