import Foundation
import Testing

@testable import PiconetCommandLine
@testable import PiconetTerminal

private let fingerprint = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

/// The examples of EVENTS.md, as values.
private let examples: [ProgramEvent] = [
  .listening(
    .init(
      peer: fingerprint, name: "Living room", session: "piconet-images",
      addresses: ["192.0.2.7:4000", "[2001:db8::7]:4000", "00:11:22:33:44:55/0x1005"], transports: ["tcp", "l2cap"],
      directory: "/home/ada/Pictures")),
  .identity(.init(peer: fingerprint)),
  .found(
    .init(
      peer: fingerprint, name: "Living room", session: "holiday", address: "192.0.2.7:4000",
      transports: ["tcp", "rfcomm"])),
  .found(
    .init(
      peer: fingerprint, name: "Living room", session: "holiday", address: "00:11:22:33:44:55/0x1005",
      transports: ["l2cap"], signal: -52)),
  .found(
    .init(
      peer: fingerprint, name: "Living room", session: "lamps", address: "192.0.2.7:4000", transports: ["tcp"],
      names: ["org.example.lamp.ceiling"], interfaces: ["org.example.lamp:2"], model: "Lamp 3000")),
  .changed(
    .init(
      peer: fingerprint, name: "Living room", session: "holiday", address: "192.0.2.7:4000", transports: ["tcp"])),
  .lost(.init(peer: fingerprint, name: "Living room", session: "holiday")),
  .connecting(
    .init(
      peer: fingerprint, name: "Living room", transports: ["tcp", "l2cap", "rfcomm"], address: "[2001:db8::7]:4000")),
  .connected(
    .init(peer: fingerprint, name: "Living room", transport: "tcp", fingerprint: fingerprint, code: "271 828")),
  .code(.init(peer: fingerprint, name: "Living room", code: "271 828")),
  .codeSet(.init(code: "042917")),
  .codeFailed(
    .init(
      peer: fingerprint, name: "Somebody", reason: "wrong-code",
      message: "the code was not proven: another code was typed there", left: 2)),
  .suspended(
    .init(peer: fingerprint, name: "Living room", reason: "link-failed", message: "the connection broke")),
  .resumed(.init(peer: fingerprint, name: "Living room", transport: "tcp")),
  .declined(.init(peer: fingerprint, name: "Somebody", reason: "not-known")),
  .declined(.init(peer: fingerprint, name: "Somebody", reason: "identity", message: "another key", suppressed: 3)),
  .offered(.init(peer: fingerprint, file: "sunset.jpg", bytes: 48_211, mediaType: ImageKind.jpeg.mediaType)),
  .progress(
    .init(peer: fingerprint, file: "sunset.jpg", done: 16_384, total: 48_211, rate: 1_200_000, remaining: 1)),
  .stored(
    .init(
      peer: fingerprint, file: "sunset.jpg", path: "/home/ada/Pictures/sunset (2).jpg", bytes: 48_211,
      sha256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")),
  .present(
    .init(
      peer: fingerprint, file: "holiday/sunset.jpg", path: "/home/ada/Pictures/holiday/sunset.jpg", bytes: 48_211,
      sha256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")),
  .skipped(.init(peer: fingerprint, file: "sunset.jpg", reason: "exists")),
  .failed(
    .init(
      file: "notes \"old\".txt", reason: GatheringFailure(path: "x", reason: .notAnImage).word,
      message: GatheringFailure(path: "x", reason: .notAnImage).message, exitCode: .localFile)),
  .warning(
    .init(
      reason: "known-peers", message: "damaged", path: "/home/ada/.local/state/piconet/known-peers", line: 3)),
  .warning(
    .init(
      reason: "bluetooth",
      message: "peers can't find each other over Bluetooth: hci0 is blocked by software (airplane mode?): "
        + "rfkill unblock bluetooth ('piconet doctor' says more)")),
  .warning(
    .init(
      reason: "directory",
      message: "/home/ada/Pictures is another folder than before: what comes is stored there from now on")),
  .warning(
    .init(
      reason: "network",
      message: "there is no network here to reach others over ('piconet doctor' says more); looking goes on")),
  .finished(
    .init(stored: 5, present: 2, skipped: 0, failed: 1, bytes: 162_344, transferred: 113_512, exitCode: .localFile)),
  .finished(
    .init(
      stored: 998, present: 0, skipped: 0, failed: 0, bytes: 2_994_000_000, transferred: 2_994_000_000, leftOut: 12,
      leftOutHidden: 3, exitCode: .stored)),
  .finished(
    .init(
      stored: 1_994, present: 0, skipped: 0, failed: 32, bytes: 51_844, transferred: 51_844, untried: 197_974,
      exitCode: .interrupted)),
]

@Suite("Event lines")
struct EventLineTests {
  @Test("each example of EVENTS.md is what the code writes, and each event has one")
  func documentation() throws {
    let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let document = try String(contentsOf: repository.appending(path: "Tools/CommandLine/EVENTS.md"), encoding: .utf8)
    let documented = document.split(separator: "\n").filter { $0.hasPrefix("{\"event\"") }.map(String.init)
    #expect(documented == examples.map { String(EventLine.text($0).dropLast()) })
  }

  @Test("of each event service.md says what bounds it, with the numbers of the code")
  func bounds() throws {
    let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let document = try String(
      contentsOf: repository.appending(path: "Documentation/programs/service.md"), encoding: .utf8)
    let section = try #require(document.split(separator: "## What others can make them write").last)
    let rows = section.split(separator: "\n").filter { $0.hasPrefix("|") }.dropFirst(2)
    let cells = rows.map { $0.split(separator: "|", omittingEmptySubsequences: false).map(String.init) }
    func names(_ cell: String) -> [String] {
      cell.matches(of: /`([a-z-]+)`/).map { String($0.1) }.filter { $0 != "imagesend" }
    }
    let written = try examples.map { example in
      let object = try JSONSerialization.jsonObject(with: Data(EventLine.text(example).utf8)) as? [String: Any]
      return try #require(object?["event"] as? String)
    }
    #expect(Set(cells.flatMap { names($0[1]) }) == Set(written))
    func bound(_ event: String) -> String { cells.filter { names($0[1]).contains(event) }.map { $0[3] }.joined() }
    #expect(bound("found").contains(text(CommandLineLimits.sightings)))
    for event in ["connected", "code", "suspended"] {
      #expect(bound(event).contains("first \(NoticeBudget.memberBurst)*"), "\(event)")
    }
    #expect(bound("declined").contains("first \(NoticeBudget.addressBurst) of an address"))
    #expect(bound("declined").contains("\(NoticeBudget.addressBurst * NoticeBudget.addressesOfAll) of all strangers"))
    for event in ["offered", "present"] { #expect(bound(event).contains(text(NoticeBudget.repeatBurst)), "\(event)") }
    #expect(bound("stored").contains(text(NoticeBudget.overwriteBurst)))
    #expect(bound("failed").contains("first \(NoticeBudget.offerBurst),"))
    for figure in [ProgressBudget.trustedRate, ProgressBudget.othersBurst] {
      #expect(bound("progress").contains("\(figure)"))
    }
  }

  /// The number as documents write it.
  private func text(_ number: Int) -> String {
    number.formatted(.number.locale(Locale(identifier: "en_US")).grouping(.automatic))
  }

  @Test("every line is JSON as Foundation reads it, and the texts survive")
  func isJSON() throws {
    let hidden = "\u{202E}\u{202A}\u{2066}\u{200F}\u{200B}\u{FEFF}\u{AD}\u{2028}\u{2029}\u{E0041}"
    let hostile = hidden + "\u{0}\u{1}\n\r\t\u{1B}[2J\"\\/\u{7F}\u{9B}\u{2028}\u{2029}é🌅\u{FFFD}\u{10FFFF}"
    let line = EventLine.text(.skipped(.init(file: hostile, reason: "exists")))
    #expect(line.last == "\n")
    #expect(!line.dropLast().unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) })
    // No characters that reorder or hide text, such as U+202E, even where a person looks at the lines.
    let kinds: [Unicode.GeneralCategory] = [.format, .lineSeparator, .paragraphSeparator]
    #expect(!line.unicodeScalars.contains { kinds.contains($0.properties.generalCategory) })
    #expect(line.contains(#"\u202e\u202a\u2066"#) && line.contains(#"\udb40\udc41"#))
    let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String]
    #expect(object == ["event": "skipped", "file": hostile, "reason": "exists"])
    for event in examples { _ = try JSONSerialization.jsonObject(with: Data(EventLine.text(event).utf8)) }
  }

  @Test("escapes are JSON's short ones if it has them, or else four digits")
  func escapes() {
    var object = JSONObject()
    object.add("a", "\u{1B}\n\"\\\u{9F}")
    object.add("b", Int64.max)
    object.add("c", ifKnown: String?.none)
    #expect(object.line == #"{"a":"\u001b\n\"\\\u009f","b":9223372036854775807}"#)
    #expect(JSONObject().line == "{}")
  }
}

@Suite("Progress is limited to 10 a second")
struct ProgressThrottleTests {
  @Test("the first passes, the next after a tenth of a second")
  func interval() {
    var throttle = ProgressThrottle()
    let start = ContinuousClock.now
    let answers = [0, 99, 100, 199].map { throttle.admits(at: start + .milliseconds($0)) }
    #expect(answers == [true, false, true, false])
  }

  @Test("in no second are there more than 10, however often it is asked")
  func perSecond() {
    var throttle = ProgressThrottle()
    let start = ContinuousClock.now
    let admitted = (0..<5000).filter { throttle.admits(at: start + .milliseconds($0)) }
    for first in admitted { #expect(admitted.count { $0 >= first && $0 < first + 1000 } <= 10) }
    #expect(admitted.count == 50)
  }
}
