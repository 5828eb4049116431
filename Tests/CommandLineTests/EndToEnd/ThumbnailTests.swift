import Foundation
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("imagerecv shows what the first photos look like")
struct ThumbnailTests {
  private static let question = AcceptQuestion.Wording.acceptFiles.prompt

  /// A photo of one colour.
  private func photo(_ scene: ToolScene, _ name: String, _ pixel: Picture.Pixel) throws -> String {
    let decoder = PictureDecoder(program: ToolProcess.path(of: "piconet-thumbnail"), time: .seconds(60))
    try scene.folder.write(
      name, try #require(decoder.jpeg(Picture(width: 300, height: 200, filledWith: pixel), atMost: 65_536)))
    return scene.folder.path + "/" + name
  }

  private let red = Picture.Pixel(red: 255, green: 0, blue: 0)
  private let blue = Picture.Pixel(red: 0, green: 0, blue: 255)

  private func receiver(_ scene: ToolScene, _ words: [String], _ variables: [String: String] = [:]) async throws
    -> ToolProcess
  {
    try scene.introduce("Kitchen", as: "Kitchen", to: "sender")
    let receiver = try scene.start(
      "imagerecv", ["--name", "Kitchen", "--directory", scene.into] + words, state: "Kitchen", onTerminal: true,
      variables: variables)
    try #require(await receiver.shows("listening on"), "\(receiver.error)")
    return receiver
  }

  /// How often a colour in which characters are drawn is red or blue, beyond doubt.
  private func colours(_ shown: String) -> (red: Int, blue: Int) {
    let numbers = shown.matches(of: /[34]8;2;(\d+);(\d+);(\d+)/).map { (Int($0.1) ?? 0, Int($0.3) ?? 0) }
    return (numbers.filter { $0.0 > 200 && $0.1 < 60 }.count, numbers.filter { $0.1 > 200 && $0.0 < 60 }.count)
  }

  @Test("before the answer, in characters of their colours with their names below; a broken photo is left out")
  func symbols() async throws {
    try await ToolScene.run { scene in
      let receiver = try await receiver(
        scene, ["--thumbnails", "symbols"], ["COLORTERM": "truecolor", "PATH": "/nowhere"])
      let sender = try scene.sender(
        "--to", "Kitchen", try photo(scene, "poppies.jpg", red), try scene.photo("broken.jpg"),
        try photo(scene, "lake.jpg", blue))
      #expect(await receiver.shows(Self.question), "\(receiver.error)")
      let shown = receiver.error
      #expect(shown.contains("▀") && shown.contains("\r\n  poppies.jpg      lake.jpg\r\n"), "\(shown)")
      let (red, blue) = colours(shown)
      #expect(red >= 8 && blue >= 8, "\(red) \(blue)")
      #expect(scene.isStored("poppies.jpg") == false)
      receiver.type("y\n")
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(try scene.received() == ["broken.jpg", "lake.jpg", "poppies.jpg"])
    }
  }

  @Test("as the terminal can: by kitty's protocol, as sixels, or not at all")
  func forms() async throws {
    try await ToolScene.run { scene in
      let file = try photo(scene, "poppies.jpg", red)
      typealias Case = (words: [String], variables: [String: String], shows: String?)
      let cases: [Case] = [
        ([], ["TERM": "xterm-kitty"], "\u{1B}_Ga=T,f=24,"),
        (["--thumbnails", "sixel"], ["TERM": "xterm-256color"], "\u{1B}P0;1q\"1;1;128;128"),
        (["--thumbnails", "off"], ["TERM": "xterm-kitty"], nil),
        (["--quiet", "--thumbnails", "kitty"], [:], nil),
        ([], ["TERM": "xterm-kitty", "NO_COLOR": "1"], nil),
      ]
      for (words, variables, shows) in cases {
        let receiver = try scene.start(
          "imagerecv", ["--name", "Kitchen", "--directory", scene.into, "--json"] + words, state: "Kitchen",
          onTerminal: true, variables: variables.merging(["PATH": "/nowhere"]) { $1 })
        try scene.introduce("Kitchen", as: "Kitchen", to: "sender")
        try #require(await receiver.shows("\"listening\""), "\(receiver.error)")
        let sender = try scene.sender("--to", "Kitchen", file)
        #expect(await receiver.shows(Self.question), "\(receiver.error)")
        if let shows {
          #expect(receiver.error.contains(shows), "\(words) \(variables): \(receiver.error)")
        } else {
          #expect(
            !["\u{1B}_G", "\u{1B}P", "▀"].contains(where: receiver.error.contains), "\(words): \(receiver.error)")
        }
        receiver.type("n\n")
        #expect(await sender.end() == 4, "\(sender.error)")
        receiver.send(signal: SIGTERM)
        #expect(await receiver.end() == 143)
      }
    }
  }

  @Test("a terminal that says too late what it can has not answered the question for its person")
  func lateAttributes() async throws {
    try await ToolScene.run { scene in
      let receiver = try await receiver(scene, [], ["TERM": "xterm-256color", "PATH": "/nowhere"])
      let sender = try scene.sender("--to", "Kitchen", try photo(scene, "poppies.jpg", red))
      #expect(await receiver.shows(Self.question), "\(receiver.error)")
      #expect(receiver.error.contains("\u{1B}[c"), "\(receiver.error)")
      receiver.type("\u{1B}[?62;4cn\n")
      #expect(await sender.end() == 4, "\(sender.error)")
    }
  }

  @Test("a sender may keep thumbnails to itself, and sends none to a receiver that its person has not confirmed")
  func kept() async throws {
    try await ToolScene.run { scene in
      let file = try photo(scene, "poppies.jpg", red)
      let receiver = try await receiver(scene, ["--thumbnails", "kitty"])
      let sender = try scene.sender("--no-thumbnails", "--to", "Kitchen", file)
      #expect(await receiver.shows(Self.question), "\(receiver.error)")
      #expect(receiver.error.contains("poppies.jpg") && !receiver.error.contains("\u{1B}_G"), "\(receiver.error)")
      receiver.type("n\n")
      #expect(await sender.end() == 4, "\(sender.error)")
      let stranger = try scene.start(
        "imagesend", ["--to", "Kitchen", file], state: "stranger", onTerminal: true)
      #expect(await receiver.shows(AcceptQuestion.Wording.accept.prompt), "\(receiver.error)")
      #expect(!receiver.error.contains("\u{1B}_G"), "\(receiver.error)")
      #expect(await stranger.shows("Send?"), "\(stranger.error)")
      stranger.type("n\n")
      #expect(await stranger.end() == 2, "\(stranger.error)")
    }
  }
}

extension ToolScene {
  fileprivate func isStored(_ name: String) -> Bool { FileManager.default.fileExists(atPath: into + "/" + name) }
}
