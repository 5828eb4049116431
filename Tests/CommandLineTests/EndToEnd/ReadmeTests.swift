import Foundation
import TestSupport
import Testing

@Suite("The picture in the README", .timeLimit(.minutes(15)))
struct ReadmeTests {
  /// Two screens show the same but for codes, keys, addresses, times and the order of the files.
  private static func lines(_ text: String) -> [String] {
    // A line of the screen shows what was written to it last; nothing, if that was a bar that is gone.
    let shown = text.replacing(/\u{1B}\[[0-9;?]*[A-Za-z]/, with: "").split { $0 == "\n" || $0 == "\r\n" }
      .map { String($0.split(separator: "\r", omittingEmptySubsequences: false).last ?? "") }
    return shown.map { line in
      line.replacing(/listening on .*/, with: "listening on").replacing(/\([0-9a-f]{12}\)/, with: "()")
        .replacing(/Code: [0-9]{3} [0-9]{3}/, with: "Code:").replacing("/home/anna/Pictures", with: "Pictures")
        .replacing(/[0-9.]+ .?B are free/, with: "are free").replacing("\u{07}", with: "")
        .replacing(/\ in (less than )?[0-9.:]+( s)?(, [0-9.]+ .?B\/s)?$/, with: " in")
    }.filter { !$0.isEmpty }.sorted()
  }

  /// What the program shows, without what it says only on a busy machine.
  private static func shown(by program: ToolProcess, _ folder: String, as name: String) -> [String] {
    [program.error, program.output].flatMap { lines(ToolProcess.unbroken($0).replacing(folder, with: name)) }
      .filter { line in !["Looking for ", "Connecting to ", "Waiting for "].contains { line.hasPrefix($0) } }.sorted()
  }

  /// The two screens of the README, without the commands.
  private static func screens() throws -> [[String]] {
    let readme = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../README.md").standardized
    let blocks = try String(contentsOf: readme, encoding: .utf8).components(separatedBy: "```\n$ image").dropFirst()
    return blocks.map { block in
      lines(block.components(separatedBy: "```")[0].split(separator: "\n").dropFirst().joined(separator: "\n"))
    }
  }

  @Test("is what the programs show today")
  func picture() async throws {
    let screens = try Self.screens()
    try #require(screens.count == 2)
    try await ToolScene.run { scene in
      let holiday = try scene.folder.folder("holiday")
      for (name, folder) in [
        ("sunset.jpg", scene.folder.path), ("mountains at dawn.jpg", holiday), ("Lichter der Straße.webp", holiday),
      ] {
        try FileManager.default.copyItem(atPath: "\(ToolScene.samples)/\(name)", toPath: "\(folder)/\(name)")
      }
      let receiver = try await scene.receiver(
        "--count", "3", name: "Living room", accept: nil, json: false, onTerminal: true, knownTo: [])
      let sender = try scene.start(
        "imagesend", ["--name", "laptop", "--to", "Living room", scene.folder.path + "/sunset.jpg", holiday],
        state: "sender", onTerminal: true)
      #expect(await receiver.shows("Accept?"), "\(receiver.error)")
      receiver.type("y\n")
      #expect(await sender.shows("Send?"), "\(sender.error)")
      sender.type("y\n")
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(await receiver.end() == 0, "\(receiver.error)")
      #expect(Self.shown(by: receiver, scene.into, as: "Pictures") == screens[0])
      #expect(Self.shown(by: sender, scene.folder.path + "/", as: "") == screens[1])
    }
  }
}
