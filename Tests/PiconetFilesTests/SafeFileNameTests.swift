import Testing

@testable import PiconetFiles

@Suite struct SafeFileNameTests {
  static let refused: [(String, FileNameRefusal)] = [
    ("", .empty), (".", .directoryReference), ("..", .directoryReference),
    ("../x", .pathSeparator), ("x/..", .pathSeparator), ("/etc/passwd", .pathSeparator), ("a/b.jpg", .pathSeparator),
    ("..\\x", .pathSeparator), ("C:\\x.jpg", .pathSeparator), ("x/", .pathSeparator),
    ("a\0.jpg", .controlCharacter), ("a\n.jpg", .controlCharacter), ("\r", .controlCharacter),
    ("a\u{1B}[2J.jpg", .controlCharacter), ("a\u{7F}", .controlCharacter), ("a\u{9B}31m", .controlCharacter),
    ("a\u{2028}b", .controlCharacter), ("a\u{2029}b", .controlCharacter),
    (".bashrc", .hidden), (".piconet-1-00000000000000000000000000000000.part", .hidden), ("...", .hidden),
    (".\u{301}x", .hidden),
    ("-rf", .leadingHyphen), ("--checkpoint-action=exec=sh x.jpg", .leadingHyphen), ("-\u{301}x", .leadingHyphen),
    ("photo.", .trailingDotOrSpace), ("photo.jpg ", .trailingDotOrSpace), (" ", .trailingDotOrSpace),
    ("CON", .reservedDeviceName), ("con", .reservedDeviceName), ("Nul.jpg", .reservedDeviceName),
    ("aux.tar.gz", .reservedDeviceName), ("COM1", .reservedDeviceName), ("lpt9.txt", .reservedDeviceName),
    ("COM\u{B9}.txt", .reservedDeviceName), ("PRN .txt", .reservedDeviceName), ("conin$", .reservedDeviceName),
    ("photo\u{202E}gpj.exe", .bidirectionalControl), ("a\u{2066}b", .bidirectionalControl),
    ("a\u{61C}b.jpg", .bidirectionalControl), ("a\u{200E}b.jpg", .bidirectionalControl),
    ("photo\u{200F}.jpg", .bidirectionalControl),
    ("photo\u{200B}.jpg", .unseenCharacter), ("\u{FEFF}photo.jpg", .unseenCharacter),
    ("pho\u{AD}to.jpg", .unseenCharacter), ("photo\u{2060}.jpg", .unseenCharacter),
    ("photo.jpg\u{E0041}", .unseenCharacter), ("photo\u{FFF9}.jpg", .unseenCharacter),
    ("photo\u{200D}.jpg", .unseenCharacter), ("\u{200C}photo.jpg", .unseenCharacter),
    ("фото\u{200D}\u{200D}.jpg", .unseenCharacter), ("\u{3164}", .unseenCharacter), ("\u{200B}", .unseenCharacter),
    ("\u{A0}\u{3000}", .invisible), ("\u{3000}\u{FE0F}", .invisible),
    ("x.desktop", .launcher), ("holiday.jpg.DESKTOP", .launcher), ("a.lnk", .launcher), ("a.Url", .launcher),
    ("a.scf", .launcher),
  ]

  @Test("a name that is no plain entry of a directory is refused with its reason", arguments: refused)
  func refusal(text: String, reason: FileNameRefusal) {
    #expect(throws: reason) { try SafeFileName(bytes: Array(text.utf8)) }
  }

  @Test(
    "bytes that are not UTF-8 are refused",
    arguments: [[0xFF], [0x61, 0xC0, 0xAF], [0xE0, 0x80, 0xAF], [0xED, 0xA0, 0x80], [0x61, 0xC3]] as [[UInt8]])
  func notUTF8(bytes: [UInt8]) {
    #expect(throws: FileNameRefusal.notUTF8) { try SafeFileName(bytes: bytes) }
  }

  @Test("255 bytes are accepted, 256 and 300 refused, also where characters are longer than bytes")
  func length() throws {
    #expect(try SafeFileName(bytes: [UInt8](repeating: 0x61, count: 255)).text.utf8.count == 255)
    for count in [256, 300, 1_000_000] {
      #expect(throws: FileNameRefusal.tooLong) { try SafeFileName(bytes: [UInt8](repeating: 0x61, count: count)) }
    }
    #expect(throws: FileNameRefusal.tooLong) { try SafeFileName(String(repeating: "é", count: 128)) }
  }

  @Test(
    "ordinary names of all scripts are kept byte for byte",
    arguments: [
      "photo.jpg", "IMG_0001.JPG", "Bild für Oma.png", "фото.webp", "写真.jpg", "تصویر.jpg", "نمی\u{200C}دانم.jpg",
      "❤\u{FE0F}.png", "1\u{FE0F}\u{20E3}.png", "葛\u{E0100}.jpg", "desktop", "my.desktop.jpg", "url.png", "👩‍👩‍👧.png",
      "e\u{301}.jpg", "a..b", "a.-b", "CONTACT.jpg", "COM10", "com", "lpt", "null.jpg", "Screenshot 12:30:05?.png",
      "~user", "x", " leading.jpg",
    ])
  func kept(text: String) throws {
    let name = try SafeFileName(bytes: Array(text.utf8))
    #expect(Array(name.text.utf8) == Array(text.utf8))
  }

  @Test(
    "a sender's repair keeps what can be kept of a name",
    arguments: [
      ("photo\u{200F}.jpg", "photo.jpg"), ("\u{FEFF}a\u{200B}b.jpg", "ab.jpg"), ("photo\u{200D}.jpg", "photo.jpg"),
      ("photo\u{202E}gpj.exe", "photogpj.exe"), ("x.desktop", "x_desktop"), ("a.jpg.lnk", "a.jpg_lnk"),
      (".photo.jpg", "photo.jpg"), ("--x.jpg", "x.jpg"), ("photo.jpg. ", "photo.jpg"), ("a\\b\n.jpg", "a_b.jpg"),
      ("con.jpg", "_con.jpg"), ("\u{200B}", "file"), ("..", "file"), ("\u{3000}", "file"), ("фото.jpg", "фото.jpg"),
      (String(repeating: "é", count: 200) + ".jpg", String(repeating: "é", count: 125) + ".jpg"),
    ])
  func repaired(text: String, expected: String) {
    #expect(Array(SafeFileName(repairing: Array(text.utf8)).text.utf8) == Array(expected.utf8))
  }

  @Test("what is repaired is safe, whatever it was", arguments: refused.map(\.0))
  func repairedIsSafe(text: String) throws {
    let name = SafeFileName(repairing: Array(text.utf8) + [0xFF])
    #expect(try SafeFileName(name.text) == name)
    let other = SafeFileName(repairing: Array(text.utf8))
    #expect(try SafeFileName(other.text) == other)
  }

  @Test("two normalization forms are two names, as they are in a directory")
  func bytesDecide() throws {
    #expect(try SafeFileName("\u{E9}.jpg") != SafeFileName("e\u{301}.jpg"))
    #expect(try Set([SafeFileName("\u{E9}"), SafeFileName("e\u{301}"), SafeFileName("\u{E9}")]).count == 2)
  }

  @Test("a refused name is printed without control characters and cut")
  func printable() {
    #expect(SafeFileName.printable(Array("a\n\u{1B}[2J\\".utf8)) == "a\\x0a\\x1b[2J\\x5c")
    #expect(SafeFileName.printable([UInt8](repeating: 0x61, count: 300)).utf8.count == 67)
  }

  @Test(
    "a number goes before the last extension",
    arguments: [
      ("photo.jpg", "photo (2).jpg"), ("photo", "photo (2)"), ("archive.tar.gz", "archive (2).tar.gz"),
      ("a.b c", "a (2).b c"),
      ("x." + String(repeating: "y", count: 40), "x." + String(repeating: "y", count: 40) + " (2)"),
    ])
  func numbered(text: String, expected: String) throws {
    #expect(try SafeFileName(text).numbered(2).text == expected)
  }

  @Test("a number shortens a long stem by whole characters and keeps the extension")
  func numberedLong() throws {
    let name = try SafeFileName(String(repeating: "é", count: 125) + "e.jpg").numbered(10)
    #expect(name.text == String(repeating: "é", count: 123) + " (10).jpg")
    #expect(name.text.utf8.count <= 255)
    let marks = try SafeFileName("a" + String(repeating: "\u{301}", count: 127)).numbered(2)
    #expect(marks.text.utf8.count <= 255 && marks.text.hasSuffix(" (2)"))
    #expect(marks.text.unicodeScalars.starts(with: "a\u{301}".unicodeScalars))
  }

  @Test("every numbered name is itself a safe name")
  func numberedIsSafe() throws {
    for text in ["photo.jpg", "写真.jpg", String(repeating: "z", count: 255), "a. b", "con x.txt"] {
      for number in [2, 1000, Int.max] {
        let numbered = try SafeFileName(text).numbered(number)
        #expect(try SafeFileName(numbered.text) == numbered)
      }
    }
  }
}
