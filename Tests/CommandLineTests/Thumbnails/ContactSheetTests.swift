import PiconetCalls
import Foundation
import Testing

@testable import PiconetCommandLine

@Suite("A sheet of pictures in an announcement")
struct ContactSheetTests {
  private func announced(_ count: Int, sheet: ContactSheet?, name: (Int) -> String = { "\($0).jpg" }) -> AnnouncedFiles
  {
    var files = AnnouncedFiles()
    for number in 0..<count { files.add(name(number), bytes: 1_000) }
    files.isWhole = true
    files.sheet = sheet
    return files
  }

  @Test("base64 is the usual one, and nothing else is read")
  func base64() {
    for count in 0..<70 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
      let text = Data(bytes).base64EncodedString()
      #expect(String(decoding: Base64Text.padded.encode(bytes), as: UTF8.self) == text)
      #expect(Base64Text.padded.decode(Array(text.utf8)) == bytes)
    }
    for text in ["A", "AA", "AAA", "====", "A===", "AB==", "AAB=", "AA==AAAA", "AA=A", "AAA\n", "AA-_", "AAA "] {
      #expect(Base64Text.padded.decode(Array(text.utf8)) == nil, "\(text)")
    }
  }

  @Test("is read as it was written, beside the names for which there is room")
  func roundTrip() throws {
    let sheet = try #require(ContactSheet(places: [0, 2, 39], jpeg: [1, 2, 3]))
    #expect(AnnouncedFiles(announced(40, sheet: sheet).encoded) == announced(40, sheet: sheet))
    #expect(
      String(decoding: announced(3, sheet: ContactSheet(places: [0, 2], jpeg: [1, 2, 3])).encoded, as: UTF8.self)
        .hasPrefix("piconet-files 1\n3 3000 whole sheet=1,3:AQID\n1000 0.jpg\n"))
    let largest = try #require(
      ContactSheet(places: [0, 1, 2, 3, 4], jpeg: [UInt8](repeating: 7, count: ContactSheet.byteLimit)))
    let many = announced(100_000, sheet: largest) { "holiday/IMG_\(10_000 + $0).jpg" }
    #expect(many.encoded.count <= AnnouncedFiles.byteLimit)
    let read = try #require(AnnouncedFiles(many.encoded))
    #expect(read.sheet == largest && read.files == 100_000 && read.first.count > 100)
    #expect(many.withoutNames.sheet == nil)
  }

  @Test("is left out where the names of its files have no room beside it")
  func noRoom() throws {
    let sheet = try #require(
      ContactSheet(places: [0, 39], jpeg: [UInt8](repeating: 7, count: ContactSheet.byteLimit)))
    let long = announced(60, sheet: sheet) { String(repeating: "n", count: 120) + "\($0).jpg" }
    let read = try #require(AnnouncedFiles(long.encoded))
    #expect(read.sheet == nil && read.first.count == 60)
  }

  @Test("a malformed or too large sheet is dropped, and the announced files still count")
  func hostile() throws {
    let jpeg = String(decoding: Base64Text.padded.encode([1, 2, 3]), as: UTF8.self)
    let long = String(
      decoding: Base64Text.padded.encode([UInt8](repeating: 1, count: ContactSheet.byteLimit + 1)), as: UTF8.self)
    for word in [
      "", "sheet=", "sheet=:", "sheet=1:", "sheet=:\(jpeg)", "sheet=0:\(jpeg)", "sheet=4:\(jpeg)", "sheet=1,1:\(jpeg)",
      "sheet=2,1:\(jpeg)", "sheet=1,2,3,4,5,6:\(jpeg)", "sheet=-1:\(jpeg)", "sheet=+1:\(jpeg)", "sheet=01:\(jpeg)",
      "sheet=1,:\(jpeg)", "sheet=999:\(jpeg)", "sheet=1:\(long)", "sheet=1:AQI", "sheet=1:AQ=D", "sheet=1:\u{1B}[2J",
      "picture=1:\(jpeg)", "sheet=\u{0661}:\(jpeg)", "sheet=18446744073709551617:\(jpeg)",
    ] {
      let text = "piconet-files 1\n3 6 whole \(word)\n1 a.jpg\n2 b.jpg\n3 c.jpg\n"
      let read = try #require(AnnouncedFiles(Array(text.utf8)), "\(word)")
      #expect(read.sheet == nil, "\(word)")
      #expect(read.first.count == 3 && read.files == 3)
    }
    let good = "piconet-files 1\n3 6 whole sheet=1,3:\(jpeg) later words\n1 a.jpg\n2 b.jpg\n3 c.jpg\n"
    #expect(AnnouncedFiles(Array(good.utf8))?.sheet == ContactSheet(places: [0, 2], jpeg: [1, 2, 3]))
  }

  @Test("its squares are those of the JPEG where that has their size, and none otherwise")
  func squares() throws {
    let sheet = try #require(ContactSheet(places: [0, 1], jpeg: [1]))
    let red = Picture(width: 90, height: 30, filledWith: Picture.Pixel(red: 255, green: 0, blue: 0))
    let blue = Picture(width: 10, height: 70, filledWith: Picture.Pixel(red: 0, green: 0, blue: 255))
    let joined = ContactSheet.joined([red, blue])
    let squares = try #require(sheet.squares(joined))
    #expect(squares.map { $0[32, 32] } == [red[0, 0], blue[0, 0]])
    #expect(sheet.squares(ContactSheet.joined([red])) == nil)
    #expect(sheet.squares(Picture(width: 128, height: 63)) == nil)
  }

  @Test("pixels of another size than stated, or of too large a size, are refused")
  func pixels() {
    #expect(Picture([0, 1, 0, 2, 1, 2, 3, 4, 5, 6], atMost: 1, 2)?.bytes == [1, 2, 3, 4, 5, 6])
    for bytes in [
      [], [0, 1, 0], [0, 1, 0, 1], [0, 1, 0, 1, 1, 2], [0, 1, 0, 1, 1, 2, 3, 4], [0, 0, 0, 1], [0, 1, 0, 3],
    ]
      as [[UInt8]]
    {
      #expect(Picture(bytes, atMost: 2, 2) == nil, "\(bytes)")
    }
    #expect(Picture([0xFF, 0xFF, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 100), atMost: 320, 64) == nil)
    let picture = Picture(width: 300, height: 2)
    #expect(Picture(picture.encoded, atMost: 300, 2) == picture)
  }
}
