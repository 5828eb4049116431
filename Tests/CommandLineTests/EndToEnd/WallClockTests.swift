import Foundation
import Glibc
import TestSupport
import Testing

@testable import PiconetCommandLine

/// The wall clock of some programs, apart from this machine's.
private struct WallClock {
  private let file: FileHandle
  /// What a program needs in its environment to go by it.
  let variables: [String: String]

  init(_ scene: ToolScene) async throws {
    let library = scene.folder.path + "/wall-clock.so"
    let source = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../WallClock/wall-clock.c").standardized.path
    let compiled = try await ProcessOutcome.of(
      "/usr/bin/env", ["cc", "-std=gnu11", "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"])
    try #require(compiled.status == 0, "\(compiled.output)")
    let path = try scene.folder.write("wall-clock", [UInt8](repeating: 0, count: 8))
    file = try #require(FileHandle(forUpdatingAtPath: path))
    variables = ["LD_PRELOAD": library, "WALL_CLOCK": path]
  }

  /// - Parameter days: how many it goes ahead of this machine's.
  func set(days: Int64) throws {
    try file.seek(toOffset: 0)
    try file.write(contentsOf: withUnsafeBytes(of: days * 86_400) { Data($0) })
  }
}

@Suite("A wall clock that is set while the programs run")
struct WallClockTests {
  private func startReceiver(_ scene: ToolScene, _ clock: WallClock, _ arguments: String...) async throws -> ToolProcess
  {
    let receiver = try scene.start(
      "imagerecv", ["--json", "--name", "Kitchen", "--directory", scene.into, "--accept", "all"] + arguments,
      state: "Kitchen", variables: clock.variables)
    try #require(await receiver.shows("\"listening\""), "\(receiver.error)")
    return receiver
  }

  private func startSender(
    _ scene: ToolScene, _ clock: WallClock, _ arguments: [String], json: Bool = true, state: String = "sender"
  ) throws -> ToolProcess {
    try scene.start(
      "imagesend", (json ? ["--json"] : []) + ["--to", "Kitchen"] + arguments, state: state,
      variables: clock.variables)
  }

  @Test(
    "in mid-file, back or ahead by ten years: the file is stored once, nothing hangs, and no figure is below zero",
    arguments: [-3_650, 3_650] as [Int64])
  func midFile(days: Int64) async throws {
    try await ToolScene.run { scene in
      let clock = try await WallClock(scene)
      try scene.introduce("Kitchen", as: "Kitchen", to: "sender")
      let receiver = try await startReceiver(scene, clock)
      let large = try scene.sparse("large.jpg", size: 400 << 20)
      let first = try startSender(scene, clock, [large])
      #expect(await first.shows("\"progress\""), "\(first.error)")
      try clock.set(days: days)
      #expect(await first.end() == 0, "\(first.error)")
      for event in first.events("progress") + receiver.events("progress") {
        for key in ["done", "rate", "remaining"] { #expect(event[key] as? Int ?? 0 >= 0, "\(event)") }
        // Seconds: it takes a few.
        #expect(event["remaining"] as? Int ?? 0 < 3_600, "\(event)")
      }
      // Both files were changed when the clock, set back, has not been yet: they are read, and found.
      let small = try scene.photo("small.jpg")
      for (stored, present) in [(1, 1), (0, 2)] {
        let next = try startSender(scene, clock, [large, small])
        #expect(await next.end() == 0, "\(next.error)")
        #expect(next.events("stored").count == stored, "\(next.output)")
        #expect(next.events("present").count == present, "\(next.output)")
      }
      let words = try startSender(scene, clock, [large, small], json: false)
      #expect(await words.end() == 0)
      #expect(words.error.contains("2 already there"), "\(words.error)")
      #expect(words.error.firstMatch(of: #/ -[0-9]/#) == nil, "\(words.error)")
      #expect(try scene.received() == ["large.jpg", "small.jpg"])
      receiver.terminate()
      #expect(await receiver.end() == 143, "\(receiver.error)")
      let history = try scene.start(
        "imagerecv", ["--history"], state: "Kitchen", outputOnTerminal: false, variables: clock.variables)
      #expect(await history.end() == 0, "\(history.error)")
      let lines = history.output.split(separator: "\n").map(String.init)
      #expect(lines.count == 2 && lines[0].hasSuffix("/large.jpg") && lines[1].hasSuffix("/small.jpg"), "\(lines)")
    }
  }

  @Test("what was interrupted before goes on where it stopped, however old it seems, or however new")
  func resumed() async throws {
    try await ToolScene.run { scene in
      let clock = try await WallClock(scene)
      try scene.introduce("Kitchen", as: "Kitchen", to: "sender")
      let large = try scene.sparse("large.jpg", size: 1_000 << 20)
      for days in [0, -3_650, 3_650] as [Int64] {
        try clock.set(days: days)
        let receiver = try await startReceiver(scene, clock)
        let sender = try startSender(scene, clock, [large])
        // More each time, and so much left that it can't be through before the signal.
        let least = days == 0 ? 20 << 20 : days < 0 ? 60 << 20 : 120 << 20
        #expect(
          await sender.shows { output in
            let done = output.split(separator: "\n").last { $0.contains("\"progress\"") }?
              .firstMatch(of: #/"done":([0-9]+)/#).flatMap { Int($0.1) }
            return done ?? 0 > least
          }, "\(sender.error)")
        sender.send(signal: SIGINT)
        #expect(await sender.end() == 130)
        receiver.terminate()
        _ = await receiver.end()
      }
      try clock.set(days: 0)
      let receiver = try await startReceiver(scene, clock)
      let last = try startSender(scene, clock, [large])
      #expect(await last.end() == 0, "\(last.error)")
      let stored = try #require(last.events("stored").first)
      #expect(stored["resumedFrom"] as? Int ?? 0 > 120 << 20, "\(stored)")
      #expect(receiver.isRunning)
      #expect(try scene.received() == ["large.jpg"])
    }
  }

  @Test("it neither gives a stranger another day nor keeps a device visible for longer")
  func limits() async throws {
    try await ToolScene.run { scene in
      let clock = try await WallClock(scene)
      let receiver = try await startReceiver(scene, clock, "--daily", "150k", "--visible", "20s")
      let key = try await scene.fingerprint("Kitchen")
      for (days, status) in [(0, 0), (2, 4), (-2, 4)] as [(Int64, Int32)] {
        try clock.set(days: days)
        let sender = try startSender(
          scene, clock, ["--fingerprint", key, try scene.photo("\(days).jpg")], state: "stranger")
        #expect(await sender.end() == status, "\(sender.error)")
      }
      try clock.set(days: -3_650)
      // By itself, after 20 s; with 4, since it has refused something.
      #expect(await receiver.end() == 4, "\(receiver.error)")
    }
  }
}
