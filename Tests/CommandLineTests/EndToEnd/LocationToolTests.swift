import Foundation
import Glibc
import TestSupport
import Testing

@testable import PiconetCommandLine

private var hasTool: Bool {
  ExifTool.find { ProcessInfo.processInfo.environment[$0] } != nil
    && { if case .usable = LandlockSupport.current { true } else { false } }()
}

@Suite(
  "imagesend takes the location out of photos",
  .enabled(if: hasTool, "libimage-exiftool-perl is not installed, or the kernel has no Landlock"))
struct LocationToolTests {
  private static let place = [
    "-GPSLatitude=52.5", "-GPSLatitudeRef=N", "-GPSLongitude=13.4", "-GPSLongitudeRef=E", "-XMP-exif:GPSLatitude=52.5",
    "-XMP-photoshop:City=Quokkatown", "-XMP-iptcCore:Location=Quokkatown",
    "-XMP-iptcExt:LocationCreatedCity=Quokkatown",
    "-IPTC:City=Quokkatown", "-IPTC:Sub-location=Quokkatown", "-IPTC:Country-PrimaryLocationName=Quokkatown",
    "-Artist=Anna", "-XMP-dc:Title=Dawn",
  ]

  private func exiftool(_ words: [String]) async throws -> ProcessOutcome {
    let tool = try #require(ExifTool.find { ProcessInfo.processInfo.environment[$0] })
    return try await ProcessOutcome.of(tool.path, ["-config", ""] + words)
  }

  /// A photo with its place in EXIF, XMP and IPTC, and an old time of change.
  private func placed(_ scene: ToolScene, _ name: String) async throws -> String {
    let path = scene.folder.path + "/" + name
    try FileManager.default.copyItem(atPath: ToolScene.samples + "/sunset.jpg", toPath: path)
    let outcome = try await exiftool(["-q", "-overwrite_original"] + Self.place + [path])
    try #require(outcome.status == 0, "\(outcome.output)")
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 1_000_000)], ofItemAtPath: path)
    return path
  }

  private static func box(_ type: String, _ parts: [UInt8]...) -> [UInt8] {
    let content = parts.joined()
    return withUnsafeBytes(of: UInt32(content.count + 8).bigEndian) { Array($0) }
      + type.unicodeScalars.map { UInt8($0.value) }
      + content
  }

  /// A film without tracks, with its place as phones write it.
  private func film(_ scene: ToolScene, _ name: String, size: Int) throws -> String {
    let zeros = { (count: Int) in [UInt8](repeating: 0, count: count) }
    let place = Array("+52.5000+013.4000/".utf8)
    var content = zeros(size)
    for place in stride(from: 0, to: size - 8, by: 64 << 10) {
      content.replaceSubrange(place..<(place + 8), with: withUnsafeBytes(of: place &* 0x9E37_79B9) { Array($0) })
    }
    let header = zeros(12) + [0, 0, 3, 0xE8, 0, 0, 3, 0xE8, 0, 1, 0, 0, 1, 0] + zeros(70) + [0, 0, 0, 2]
    let bytes =
      Self.box("ftyp", Array("qt  ".utf8), [0, 0, 2, 0], Array("qt  ".utf8))
      + Self.box(
        "moov", Self.box("mvhd", header),
        Self.box("udta", Self.box("\u{A9}xyz", [0, UInt8(place.count), 0x15, 0xC7], place)))
      + Self.box("mdat", content)
    try scene.folder.write(name, bytes)
    return scene.folder.path + "/" + name
  }

  private func picture(_ path: String) throws -> [UInt8] {
    let bytes = try TemporaryFolder.bytes(path)
    let scan = try #require(bytes.indices.dropLast().last { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xDA })
    return Array(bytes[scan...])
  }

  @Test(
    "strip sends photos, films and sidecars without it and otherwise as they are; the original is untouched, and the second run finds all there"
  )
  func strip() async throws {
    try await ToolScene.run { scene in
      _ = try await scene.receiver()
      let hostile = "|touch x;.jpg"
      let photos = [try await placed(scene, "a.jpg"), try await placed(scene, hostile)]
      let plain = ToolScene.samples + "/sunset.jpg"
      let sidecar = scene.folder.path + "/b.xmp"
      try """
      <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
      <rdf:Description rdf:about="" xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/" photoshop:City="Quokkatown" \
      photoshop:Headline="Dawn"/></rdf:RDF></x:xmpmeta>
      """.write(toFile: sidecar, atomically: true, encoding: .utf8)
      let files = photos + [plain, sidecar, try film(scene, "c.mov", size: 200_000)]
      let before = try files.map { try TemporaryFolder.bytes($0) }
      let sender = try scene.start(
        "imagesend", ["--json", "--to", "Kitchen", "--location", "strip"] + files, state: "sender",
        variables: ["TMPDIR": scene.folder.path])
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(
        sender.error.contains(
          "location taken out of 4 files (GPS position, city, country, place name)"), "\(sender.error)")
      #expect(try files.map { try TemporaryFolder.bytes($0) } == before)
      let stored = sender.events("stored")
      #expect(stored.first { ($0["file"] as? String) == plain }?["takenOut"] == nil)
      #expect(stored.first { ($0["file"] as? String) == sidecar }?["takenOut"] as? [String] == ["city"])
      for file in files {
        let name = try #require(file.split(separator: "/").last)
        let bytes = try TemporaryFolder.bytes("\(scene.into)/\(name)")
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(!text.contains("Quokkatown") && !text.contains("GPS") && !text.contains("+52.5"), "\(name)")
      }
      let a = scene.into + "/a.jpg"
      #expect(try picture(a) == picture(photos[0]) && picture(a) == picture(plain))
      #expect(try scene.isSame(plain, scene.into + "/sunset.jpg"))
      let said = try await exiftool(["-s", "-s", "-Artist", "-Title", a, scene.into + "/" + hostile]).output
      #expect(said.components(separatedBy: "Artist: Anna").count == 3 && said.contains("Title: Dawn"), "\(said)")
      #expect(try await exiftool(["-s3", "-Headline", scene.into + "/b.xmp"]).output == "Dawn\n")
      let date = try FileManager.default.attributesOfItem(atPath: a)[.modificationDate] as? Date
      #expect(date == Date(timeIntervalSince1970: 1_000_000))
      let again = try scene.start(
        "imagesend", ["--json", "--to", "Kitchen", "--location", "strip"] + files, state: "sender")
      #expect(await again.end() == 0, "\(again.error)")
      #expect(again.events("present").count == files.count, "\(again.error)")
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: scene.folder.path).filter { $0.hasPrefix("piconet") } == [])
    }
  }

  @Test("what can't be cleaned is not sent, with the reason, and the rest is")
  func refused() async throws {
    try await ToolScene.run { scene in
      _ = try await scene.receiver("--any")
      let photo = try await placed(scene, "a.jpg")
      let motion = scene.folder.path + "/motion.jpg"
      let film = try TemporaryFolder.bytes(try film(scene, "c.mov", size: 1_000))
      try scene.folder.write("motion.jpg", try TemporaryFolder.bytes(ToolScene.samples + "/sunset.jpg") + film)
      try scene.folder.write("x.qoi", Array("qoif\0\0\0\u{1}\0\0\0\u{1}\u{3}\0abc".utf8))
      try scene.folder.write("text", Array("Quokkatown".utf8))
      let sender = try scene.start(
        "imagesend",
        [
          "--json", "--to", "Kitchen", "--any", "--location", "strip", photo, motion, scene.folder.path + "/x.qoi",
          scene.folder.path + "/text", "http://127.0.0.1:1/a.jpg",
        ], state: "sender")
      #expect(await sender.end() == 6, "\(sender.error)")
      let reasons = [
        motion: "a part that exiftool does not read has a film's position", "x.qoi": "Unknown file type",
        "text": "only photos, videos and their sidecars are understood", "http": "passed on while it arrives",
      ]
      for (file, reason) in reasons {
        let failed = sender.events("failed").first { ($0["file"] as? String)?.contains(file) == true }
        #expect((failed?["message"] as? String)?.contains(reason) == true, "\(file): \(sender.events("failed"))")
        #expect(failed?["reason"] as? String == "location")
      }
      #expect(try scene.received() == ["a.jpg"])
    }
  }

  @Test("a copy that was interrupted goes on where it stopped, although it is made anew")
  func resumed() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver()
      let path = try film(scene, "c.mov", size: 60 << 20)
      let words = ["--to", "Kitchen", "--location", "strip", path]
      let first = try scene.start("imagesend", ["--json"] + words, state: "sender")
      receiver.once { output in
        output.matches(of: /"done":(\d+)/).last.flatMap { Int($0.1) }.map { $0 >= 4 << 20 } ?? false
      } act: {
        first.send(signal: SIGKILL)
      }
      #expect(await first.end() == 137, "\(first.error)")
      let second = try scene.start("imagesend", ["--json"] + words, state: "sender")
      #expect(await second.end(within: .seconds(300)) == 0, "\(second.error)")
      let stored = try #require(second.events("stored").first)
      #expect(stored["resumedFrom"] as? Int ?? 0 >= 1 << 20, "\(stored)")
      #expect(try !String(decoding: TemporaryFolder.bytes(scene.into + "/c.mov"), as: UTF8.self).contains("+52.5"))
    }
  }

  @Test(
    "ask asks once, before the first file that says where it is from; yes takes it out, and no sends files as they are")
  func ask() async throws {
    try await ToolScene.run { scene in
      let photos = [
        ToolScene.samples + "/sunset.jpg", try await placed(scene, "a.jpg"), try await placed(scene, "b.jpg"),
      ]
      for (answer, isKept) in [("y", false), ("n", true)] {
        let into = "\(scene.folder.path)/\(answer)"
        try FileManager.default.createDirectory(atPath: into, withIntermediateDirectories: true)
        _ = try await scene.receiver(name: "Kitchen \(answer)", state: "Kitchen", into: into)
        let sender = try scene.start(
          "imagesend", ["--to", "Kitchen \(answer)", "--location", "ask"] + photos, state: "sender", onTerminal: true)
        #expect(await sender.shows("Take the location out? [y]es / [n]o: "), "\(sender.error)")
        #expect(
          sender.unbrokenError.contains(" says where it was taken: GPS position, city, country, place name."),
          "\(sender.error)")
        sender.type("perhaps\n\(answer)\n")
        #expect(await sender.end() == 0, "\(sender.error)")
        for name in ["a.jpg", "b.jpg"] {
          let text = String(decoding: try TemporaryFolder.bytes("\(into)/\(name)"), as: UTF8.self)
          #expect(text.contains("Quokkatown") == isKept, "\(name) after \(answer)")
        }
        #expect(sender.error.contains("location taken out of 2 files") != isKept, "\(sender.error)")
      }
    }
  }

  @Test("Ctrl-C at the question ends it, with nothing sent that says where it is from")
  func interrupted() async throws {
    try await ToolScene.run { scene in
      _ = try await scene.receiver()
      let sender = try scene.start(
        "imagesend", ["--to", "Kitchen", "--location", "ask", try await placed(scene, "a.jpg")], state: "sender",
        onTerminal: true)
      #expect(await sender.shows("Take the location out? "), "\(sender.error)")
      sender.send(signal: SIGINT)
      #expect(await sender.end() == 130, "\(sender.error)")
      #expect(try scene.received() == [])
    }
  }
}

@Suite("imagesend says what --location needs")
struct LocationNeedsTests {
  @Test("without exiftool, without a terminal, with --yes, and with another word")
  func wrong() async throws {
    try await ToolScene.run { scene in
      let photo = try scene.photo("a.jpg")
      let cases: [([String], Bool, String)] = [
        (["--location", "ask"], false, "--location ask asks a person, and there is none"),
        (["--location", "ask", "--yes"], true, "--location ask asks a person, and there is none"),
        (["--location", "no"], false, "'strip'"),
      ]
      for (words, onTerminal, message) in cases {
        let sender = try scene.start(
          "imagesend", words + ["--to", "Kitchen", photo], state: "sender", onTerminal: onTerminal)
        #expect(await sender.end() == 2, "\(words): \(sender.error)")
        #expect(sender.error.contains(message), "\(words): \(sender.error)")
      }
      guard case .usable = LandlockSupport.current else { return }
      let sender = try scene.start(
        "imagesend", ["--location", "strip", "--to", "Kitchen", photo], state: "sender",
        variables: ["PATH": "/nonexistent:relative"])
      #expect(await sender.end() == 2)
      #expect(sender.error.contains("sudo apt install libimage-exiftool-perl"), "\(sender.error)")
    }
  }
}
