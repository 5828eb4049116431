import PiconetEngine
import PiconetWire
import Testing

@testable import PiconetCommandLine

@Suite("What a person has agreed to take")
struct ConsentTests {
  private let phone = NodeID(
    peer: PeerID(bytes: [UInt8](repeating: 7, count: 32))!, incarnation: Incarnation(rawValue: 1))

  private func announced(_ count: Int, bytes: Int64, isWhole: Bool = true) -> AnnouncedFiles {
    var files = AnnouncedFiles()
    for number in 0..<count { files.add("\(number).jpg", bytes: bytes) }
    files.isWhole = isWhole
    return files
  }

  @Test("more files than were announced, or more bytes, are turned away")
  func more() {
    let consents = Consents()
    consents.agree(to: .all, of: announced(2, bytes: 100), from: phone)
    #expect(consents.refusal(of: "0.jpg", bytes: 150, from: phone) == nil)
    #expect(consents.refusal(of: "1.jpg", bytes: 51, from: phone) == .moreThanAnnounced)
    consents.agree(to: .all, of: announced(1, bytes: 100), from: phone)
    #expect(consents.refusal(of: "a.jpg", bytes: 1, from: phone) == nil)
    #expect(consents.refusal(of: "b.jpg", bytes: 1, from: phone) == .moreThanAnnounced)
    consents.forget(phone)
    #expect(consents.refusal(of: "b.jpg", bytes: 1, from: phone) == nil, "nothing was asked about it")
  }

  @Test("of what was not counted to the end there may be more, and of what was not announced any number")
  func partial() {
    let consents = Consents()
    for announced in [announced(1, bytes: 1, isWhole: false), nil] {
      consents.agree(to: .all, of: announced, from: phone)
      for number in 0..<5 { #expect(consents.refusal(of: "\(number)", bytes: .max, from: phone) == nil) }
    }
  }

  @Test("what was not chosen is turned away, whatever it is called besides")
  func some() throws {
    let consents = Consents()
    let files = announced(3, bytes: 1)
    consents.agree(to: try OfferSelection("2", of: files, shown: 3), of: files, from: phone)
    #expect(consents.refusal(of: "1.jpg", bytes: 1, from: phone) == nil)
    #expect(consents.refusal(of: "0.jpg", bytes: 1, from: phone) == .notChosen)
    #expect(consents.refusal(of: "album/1.jpg", bytes: 1, from: phone) == .notChosen)
  }

  @Test("a file whose name can't be used here comes under another one, once")
  func otherName() throws {
    let consents = Consents()
    var files = AnnouncedFiles()
    for (name, size) in [("12:30.jpg", 100), ("b.jpg", 7)] as [(String, Int64)] { files.add(name, bytes: size) }
    files.isWhole = true
    for selection in [OfferSelection.all, try OfferSelection("1", of: files, shown: 2)] {
      consents.agree(to: selection, of: files, from: phone)
      if selection == .all { #expect(consents.refusal(of: "b.jpg", bytes: 7, from: phone) == nil) }
      #expect(consents.refusal(of: "12:30.jpg", bytes: 100, from: phone) == nil)
      consents.giveBack(100, of: phone)
      if selection != .all { #expect(consents.refusal(of: "12_30.jpg", bytes: 99, from: phone) == .notChosen) }
      #expect(consents.refusal(of: "12_30.jpg", bytes: 100, from: phone) == nil)
      #expect(consents.refusal(of: "12_31.jpg", bytes: 100, from: phone) != nil, "\(selection)")
    }
    consents.giveBack(1, of: NodeID(peer: phone.peer, incarnation: Incarnation(rawValue: 2)))
  }

  @Test("of what was chosen no more comes than was announced of it, in files and in bytes")
  func moreThanChosen() throws {
    let consents = Consents()
    let files = announced(3, bytes: 100)
    for selection in ["2", "1.*"] {
      consents.agree(to: try OfferSelection(selection, of: files, shown: 3), of: files, from: phone)
      #expect(consents.refusal(of: "0.jpg", bytes: 100, from: phone) == .notChosen, "and counts for nothing")
      #expect(consents.refusal(of: "1.jpg", bytes: 100, from: phone) == nil)
      #expect(consents.refusal(of: "1.jpg", bytes: 0, from: phone) == .moreThanAnnounced)
      consents.agree(to: try OfferSelection(selection, of: files, shown: 3), of: files, from: phone)
      #expect(consents.refusal(of: "1.jpg", bytes: 101, from: phone) == .moreThanAnnounced)
    }
    // Of those without a name in the list any may be meant.
    var many = files
    many.files += 5
    many.bytes += 1_000
    consents.agree(to: try OfferSelection("*7.jpg", of: many, shown: 3), of: many, from: phone)
    #expect(consents.refusal(of: "7.jpg", bytes: 1_000, from: phone) == nil)
    #expect(consents.refusal(of: "17.jpg", bytes: 1, from: phone) == .moreThanAnnounced)
  }
}
