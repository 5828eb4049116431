import Testing

@testable import PiconetCommandLine

@Suite("Which peers --to means")
struct RecipientMatchTests {
  private let key = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
  private let otherKey = "9f86d081884c0000000000000000000000000000000000000000000000000000"

  private func peer(_ name: String, _ key: String, _ id: String) -> SightedPeer {
    SightedPeer(fingerprint: key, name: name, id: id)
  }

  @Test("a name means the peer that is called so, whatever the form of its accents")
  func name() {
    let peers = [peer("Küche", key, "1"), peer("Hall", otherKey, "2")]
    #expect(Recipient.named("Ku\u{308}che").matches(in: peers).map(\.id) == ["1"])
    #expect(Recipient.named("Kuche").matches(in: peers).isEmpty)
  }

  @Test("a name means the peer that is called so but for the case, the width, and the forms of spaces and apostrophes")
  func letterCase() {
    let peers = [peer("Living room", key, "1"), peer("Ada’s\u{A0}Straße", otherKey, "2")]
    #expect(Recipient.named("living ROOM").matches(in: peers).map(\.id) == ["1"])
    #expect(Recipient.named("ＬＩＶＩＮＧ　ＲＯＯＭ").matches(in: peers).map(\.id) == ["1"])
    #expect(Recipient.named("ada's STRASSE").matches(in: peers).map(\.id) == ["2"])
    #expect(Recipient.named("livingroom").matches(in: peers).isEmpty)
  }

  @Test("a name to the letter goes before one in another case; of several of those all are meant")
  func exactFirst() {
    let (upper, lower) = (peer("Hall", key, "1"), peer("hall", otherKey, "2"))
    #expect(Recipient.named("hall").matches(in: [upper, lower]).map(\.id) == ["2"])
    #expect(Recipient.named("Hall").matches(in: [upper, lower]).map(\.id) == ["1"])
    #expect(Recipient.named("HALL").matches(in: [upper, lower]).map(\.id) == ["1", "2"])
    #expect(Recipient.named("HALL").differsInCase(from: [upper, lower], known: [:]))
    #expect(!Recipient.named("hall").differsInCase(from: [lower], known: [:]))
  }

  @Test("a remembered name in other letters means its key; no stranger with these letters passes for it")
  func rememberedInOtherLetters() {
    let known = ["Mum": Set([key])]
    let (mum, stranger) = (peer("Mum's phone", key, "1"), peer("mum", otherKey, "2"))
    #expect(Recipient.named("mum").matches(in: [mum], known: known).map(\.id) == ["1"])
    #expect(Recipient.named("mum").matches(in: [stranger], known: known).isEmpty)
    #expect(Recipient.named("mum").impostors(in: [stranger], known: known).map(\.id) == ["2"])
    #expect(Recipient.named("Mum").impostors(in: [stranger], known: known).map(\.id) == ["2"])
    #expect(Recipient.named("Mum").matches(in: [mum, stranger], known: known).map(\.id) == ["1"])
    // To the letter this is the stranger, and but for the case the known one: both match, and a person decides.
    #expect(Recipient.named("mum").matches(in: [mum, stranger], known: known).map(\.id) == ["1", "2"])
    // "MUM" is neither to the letter, so the known one comes first.
    #expect(Recipient.named("MUM").matches(in: [mum, stranger], known: known).map(\.id) == ["1"])
  }

  @Test("a name that two devices have but for the case means each to the letter, though one is remembered with digits")
  func rememberedWithDigits() {
    let known = ["Kitchen": Set([key]), "kitchen (\(otherKey.prefix(12)))": Set([otherKey])]
    let (upper, lower) = (peer("Kitchen", key, "1"), peer("kitchen", otherKey, "2"))
    #expect(Recipient.named("Kitchen").matches(in: [upper, lower], known: known).map(\.id) == ["1"])
    #expect(Recipient.named("kitchen").matches(in: [upper, lower], known: known).map(\.id) == ["2"])
    #expect(Recipient.named("KITCHEN").matches(in: [upper, lower], known: known).count == 2)
    #expect(Recipient.named("Kitchen").impostors(in: [lower], known: known).isEmpty)
    let stranger = peer("kitchen", key.replacing("9f86", with: "0000"), "3")
    #expect(Recipient.named("kitchen").matches(in: [stranger, lower], known: known).map(\.id) == ["2"])
  }

  @Test("two devices of one name are both meant, one device that was restarted only once")
  func namesakes() {
    #expect(Recipient.named("A").matches(in: [peer("A", key, "1"), peer("A", otherKey, "2")]).count == 2)
    #expect(Recipient.named("A").matches(in: [peer("A", key, "1"), peer("A", key, "2")]).map(\.id) == ["2"])
  }

  @Test("twelve digits of a fingerprint are enough, fewer are a name; a peer with them as its name is meant as well")
  func fingerprint() {
    let peers = [peer("A", key, "1"), peer("B", "aa" + key.dropFirst(2), "2")]
    #expect(Recipient.named("9F86D081884C").matches(in: peers).map(\.id) == ["1"])
    #expect(Recipient.named("9f86d081884").matches(in: peers).isEmpty)
    #expect(Recipient.peer(fingerprint: key).matches(in: peers).map(\.id) == ["1"])
    let liar = peer("9f86d081884c", otherKey, "3")
    #expect(Recipient.named("9f86d081884c").matches(in: peers + [liar]).map(\.id) == ["1", "3"])
    #expect(Recipient.named("9f86d081884c").matches(in: [peers[0], peer("C", otherKey, "4")]).count == 2)
  }

  @Test("digits of a remembered key mean that key, and no device that has taken them for a name")
  func digitsOfAKnownKey() {
    let known = ["Bob": Set([key])]
    let liar = peer("9f86d081884c", otherKey.replacing("9f86d081", with: "00000000"), "2")
    #expect(
      Recipient.named("9F86D081884C").matches(in: [liar, peer("Bob", key, "1")], known: known).map(\.id) == ["1"])
    #expect(Recipient.named("9f86d081884c").matches(in: [liar], known: known).isEmpty)
    // If one device has the petname's key and the other is remembered under the digits, both are meant.
    let both = ["Bob": Set([key]), liar.name: Set([liar.fingerprint])]
    #expect(Recipient.named("9f86d081884c").matches(in: [liar, peer("Bob", key, "1")], known: both).count == 2)
  }

  @Test("a name with digits, as a known device is shown, means that device, and none that calls itself so")
  func nameWithDigits() {
    let text = "Bob (9f86d081884c)"
    let other = otherKey.replacing("9f86d081", with: "00000000")
    let (bob, liar) = (peer("Bob", key, "1"), peer(text, other, "2"))
    for known in [["Bob": Set([key])], ["Bob": Set([key]), text: Set([other])]] {
      #expect(Recipient.named(text).matches(in: [liar, bob], known: known).map(\.id) == ["1"])
      #expect(Recipient.named(text).matches(in: [liar], known: known).isEmpty)
      #expect(Recipient.named(text).impostors(in: [liar], known: known).map(\.id) == ["2"])
    }
    // No known device is shown like this: it is a name like any other.
    let known = ["Bob": Set([key])]
    let printer = peer("Printer (9f86d081884c)", other, "3")
    #expect(Recipient.named(printer.name).matches(in: [printer, bob], known: known).map(\.id) == ["3"])
  }

  @Test("a remembered name means the remembered key, whatever it is called now, and no other device of that name")
  func remembered() {
    let known = ["Bob": Set([key])]
    let bob = peer("Bob's new phone", key, "1")
    let other = peer("Bob", otherKey, "2")
    #expect(Recipient.named("Bob").matches(in: [other, bob], known: known).map(\.id) == ["1"])
    #expect(Recipient.named("Bob").matches(in: [other], known: known).isEmpty)
    #expect(Recipient.named("Bob").impostors(in: [other, bob], known: known).map(\.id) == ["2"])
    #expect(Recipient.named("Bob").impostors(in: [bob], known: known).isEmpty)
    // A key means its device in spite of the name. A name that is not remembered means any device that has it.
    #expect(Recipient.peer(fingerprint: otherKey).matches(in: [other], known: known).map(\.id) == ["2"])
    #expect(Recipient.named("Eve").matches(in: [peer("Eve", otherKey, "3")], known: known).map(\.id) == ["3"])
    #expect(Recipient.named("Eve").impostors(in: [peer("Eve", otherKey, "3")], known: known).isEmpty)
  }

  @Test("of two programs of a remembered device the one of its petname is meant, and both where neither is called so")
  func programsOfOneDevice() {
    let known = ["Bob": Set([key])]
    let bob = peer("Bob", key, "1")
    let cat = peer("Cat", key, "2")
    #expect(Recipient.named("Bob").matches(in: [bob, cat], known: known).map(\.id) == ["1"])
    #expect(Recipient.named("Bob").matches(in: [peer("Hall", key, "3"), cat], known: known).count == 2)
    #expect(Recipient.named("Cat").matches(in: [bob, cat], known: known).map(\.id) == ["2"])
    // Another device of that name is still another one.
    let both = ["Bob": Set([key, otherKey])]
    #expect(Recipient.named("Bob").matches(in: [bob, peer("Hall", otherKey, "3")], known: both).count == 2)
  }

  @Test("a peer that is advertised under several names is meant by each, in any order, and under that one")
  func severalNames() {
    for (name, others) in [("Zed", ["Carol", "Hall"]), ("Carol", ["Zed", "Hall"])] {
      let carol = SightedPeer(fingerprint: key, name: name, otherNames: others, id: "1")
      for wanted in [Recipient.named("Carol"), .named("carol")] {
        let matches = wanted.matches(in: [carol, peer("Mary", otherKey, "2")])
        #expect(matches.map(\.id) == ["1"] && matches.map(\.name) == ["Carol"])
        #expect(matches.allSatisfy { Set($0.otherNames) == ["Zed", "Hall"] })
      }
      // The key is meant, or all are: once, under the name that is shown.
      for wanted in [Recipient.named(String(key.prefix(12))), .peer(fingerprint: key), .all] {
        #expect(wanted.matches(in: [carol]).map(\.name) == [name])
      }
      // Another key under this name: a person decides.
      #expect(Recipient.named("Carol").matches(in: [carol, peer("Carol", otherKey, "2")]).count == 2)
      // Known under another name, and advertised under a known one.
      #expect(Recipient.named("Mum").matches(in: [carol], known: ["Mum": [key]]).map(\.id) == ["1"])
      #expect(Recipient.named("Zed").matches(in: [carol], known: ["Zed": [otherKey]]).isEmpty)
      #expect(Recipient.named("Zed").impostors(in: [carol], known: ["Zed": [otherKey]]).map(\.name) == ["Zed"])
      // A known key has no name but its petname and the one that it was seen with first.
      let isFirst = name == "Carol"
      #expect(Recipient.named("Carol").matches(in: [carol], known: ["Bob": [key]]).count == (isFirst ? 1 : 0))
      // After a restart the last one counts, whatever the former is called besides.
      let again = peer("Carol", key, "2")
      #expect(Recipient.named("Carol").matches(in: [carol, again]).map(\.id) == ["2"])
      #expect(Recipient.named("Mum").matches(in: [carol, again], known: ["Mum": [key]]).map(\.id) == ["2"])
    }
  }

  @Test("all means every peer, two programs of one device too")
  func all() {
    #expect(Recipient.all.matches(in: [peer("A", key, "1"), peer("B", key, "2")]).count == 2)
  }
}
