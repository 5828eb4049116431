import Foundation
import Testing

@testable import PiconetCommandLine

/// Text as Latin-1, so that "\u{FF}" is one byte; padded to the length that is read.
private func header(_ text: String, length: Int = 64) -> [UInt8] {
  let bytes = text.unicodeScalars.map { UInt8($0.value) }
  return bytes + [UInt8](repeating: 0, count: max(0, length - bytes.count))
}

private let png = "\u{89}PNG\r\n\u{1A}\n\0\0\0\rIHDR"
private let bmpHeader = "BM\u{46}\0\0\0\0\0\0\0\u{36}\0\0\0\u{28}\0\0\0\u{2}\0\0\0\u{2}\0\0\0\u{1}\0\u{18}\0"
private let os2Header = "BM\u{46}\0\0\0\0\0\0\0\u{1A}\0\0\0\u{0C}\0\0\0\u{2}\0\u{2}\0\u{1}\0\u{18}\0"

@Suite("Images are recognised by content")
struct ImageKindTests {
  @Test(
    "headers as cameras and programs write them",
    arguments: [
      ("\u{FF}\u{D8}\u{FF}\u{E0}\0\u{10}JFIF\0", .jpeg), ("\u{FF}\u{D8}\u{FF}\u{E1}\u{2A}\u{10}Exif\0\0", .jpeg),
      ("\u{FF}\u{D8}\u{FF}\u{DB}\0\u{43}", .jpeg), (png, .png), ("GIF87a\u{1}\0\u{1}\0", .gif),
      ("GIF89a\u{1}\0\u{1}\0", .gif),
      ("RIFF\u{24}\0\0\0WEBPVP8 ", .webp), ("RIFF\u{24}\0\0\0WEBPVP8L", .webp), ("RIFF\u{24}\0\0\0WEBPVP8X", .webp),
      ("\0\0\0\u{18}ftypheic\0\0\0\0mif1heic", .heic), ("\0\0\0\u{20}ftypmif1\0\0\0\0mif1heicmiaf", .heic),
      ("\0\0\0\u{18}ftypmif1\0\0\0\0mif1miaf", .heif), ("\0\0\0\u{1C}ftypavif\0\0\0\0avifmif1miaf", .avif),
      ("\0\0\0\u{20}ftypmif1\0\0\0\0mif1avifmiaf", .avif), ("\0\0\0\u{18}ftypcrx \0\0\0\u{1}crx isom", .canonRaw3),
      ("II*\0\u{8}\0\0\0", .tiff), ("MM\0*\0\0\0\u{8}", .tiff), ("II*\0\u{10}\0\0\0CR\u{2}\0", .canonRaw2),
      ("II+\0\u{8}\0\0\0\u{10}\0\0\0\0\0\0\0", .tiff), ("MM\0+\0\u{8}\0\0", .tiff),
      ("IIU\0\u{18}\0\0\0", .panasonicRaw),
      ("FUJIFILMCCD-RAW 0201FF", .fujifilmRaw), ("\0\0\0\u{18}ftypisom\0\0\0\0mif1heic", .mp4),
      ("\0\0\0\u{18}ftypmp42\0\0\0\0mp42isom", .mp4), ("\0\0\0\u{14}ftypqt  \0\0\0\0qt  ", .quickTime),
      ("\0\0\0\u{18}ftyp3gp4\0\0\u{3}\0isom3gp4", .threeGP), ("\0\0\0\u{8}wide\0\0\u{1}\0mdat", .quickTime),
      ("\0\0\u{2}\u{6C}moov\0\0\0\u{6C}mvhd", .quickTime), ("\0\0\0\u{18}ftypmsf1\0\0\0\0iso8hevc", .heic),
      ("<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">", .xmp), ("\u{EF}\u{BB}\u{BF}<?xpacket begin=", .xmp),
      ("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<x:xmpmeta xmlns", .xmp),
      ("IIRO\u{8}\0\0\0", .olympusRaw), (bmpHeader, .bmp), (os2Header, .bmp),
      ("\u{FF}\u{A}\u{FA}\u{1F}\u{41}\u{91}\u{8}\u{6}\u{1}\0\u{68}\0", .jpegXL),
      ("\0\0\0\u{C}JXL \r\n\u{87}\n", .jpegXL), ("qoif\0\0\0\u{1}\0\0\0\u{1}\u{4}\0", .qoi),
    ] as [(String, ImageKind)])
  func golden(text: String, kind: ImageKind) {
    #expect(ImageKind(header: header(text)) == kind)
  }

  @Test(
    "near misses",
    arguments: [
      "", "B", "BM", "BMW is a car, and this is a letter about one of them, with a good many words in it.",
      "\u{FF}\u{D8}", "\u{FF}\u{D8}\u{FF}", "\u{FF}\u{D8}\u{FF}\0", "\u{FF}\u{D8}\u{FF}\u{D8}", "\u{89}PNG\r\n\u{1A}\n",
      "\u{89}PNG\n\u{1A}\n\0\0\0\rIHDR", "GIF88a", "GIF8", "RIFF\u{24}\0\0\0WAVEfmt ", "RIFF\u{24}\0\0\0WEBPVP9 ",
      "\0\0\0\u{18}ftypM4A \0\0\0\0isommp42", "\0\0\0\u{8}ftypheic", "\0\0\0\u{8}wide\0\0\0\0moov", "look: moov",
      "<?xml version=\"1.0\"?><rdf>", "<?xml <x:xmpmeta",
      "\0\0\0\u{17}ftypheic\0\0\0\0mif1heic", "\0\0\u{8}\0ftypheic\0\0\0\0mif1heic", "II*\0\0\0\0\0", "II*\0",
      "MM*\0\0\0\0\u{8}", "III\0\u{8}\0\0\0",
      "<svg xmlns=\"http://www.w3.org/2000/svg\"/>", "<?xml version=\"1.0\"?><svg", "%PDF-1.7", "PK\u{3}\u{4}",
      "\u{FF}\u{A}",
      "qoif\0\0\0\0\0\0\0\u{1}\u{4}\0", "qoif\0\0\0\u{1}\0\0\0\u{1}\u{5}\0", "#!/bin/sh\n",
      "\0\0\0\u{C}JXL \r\n\u{87}\r",
    ])
  func nearMisses(text: String) {
    #expect(ImageKind(header: header(text, length: 0)) == nil)
  }

  @Test("a BMP whose fields make no sense is not taken for an image")
  func implausibleBitmaps() {
    for (offset, value) in [(6, 1), (10, 20), (13, 1), (14, 41), (26, 2), (28, 7)] as [(Int, UInt8)] {
      var bytes = header(bmpHeader)
      bytes[offset] = value
      #expect(ImageKind(header: bytes) == nil, "byte \(offset)")
    }
  }

  @Test("every prefix of a header is read without a trap")
  func prefixes() {
    for text in [
      png, bmpHeader, "\0\0\0\u{20}ftypmif1\0\0\0\0mif1heicmiaf", "II*\0\u{10}\0\0\0CR\u{2}\0",
      "qoif\0\0\0\u{1}\0\0\0\u{1}\u{4}\0",
    ] {
      for length in 0...text.unicodeScalars.count { _ = ImageKind(header: header(text, length: 64).prefix(length)) }
    }
    #expect(ImageKind(header: header(png).dropFirst(0)) == .png)
  }

  @Test("each kind has a media type and an extension of its own")
  func names() {
    #expect(Set(ImageKind.allCases.map(\.mediaType)).count == ImageKind.allCases.count)
    #expect(Set(ImageKind.allCases.map(\.fileExtension)).count == ImageKind.allCases.count)
    for kind in ImageKind.allCases where kind != .xmp {
      #expect(kind.mediaType.hasPrefix(kind.isVideo ? "video/" : "image/"))
    }
  }

  @Test("the sample photos are what their names say, small, and at least four")
  func samples() throws {
    let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let folder = repository.appending(path: "Tools/samples")
    let photos = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { ["jpg", "png", "webp"].contains($0.pathExtension) }
    #expect(photos.count >= 4)
    var total = 0
    for photo in photos {
      let bytes = try Data(contentsOf: photo)
      #expect(ImageKind(header: bytes)?.fileExtension == photo.pathExtension, "\(photo.lastPathComponent)")
      #expect(bytes.count < 60_000, "\(photo.lastPathComponent)")
      total += bytes.count
    }
    #expect(total < 200_000)
  }
}
