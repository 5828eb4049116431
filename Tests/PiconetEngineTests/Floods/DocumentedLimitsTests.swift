import Foundation
import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("The limits in sections 7 and 12 of Documentation/wire-format.md")
struct DocumentedLimitsTests {
  /// What the table says beside a limit.
  private static func row(_ name: String, in heading: String = "## 12. ") throws -> String {
    let path = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../Documentation/wire-format.md")
    let text = try String(contentsOf: path.standardized, encoding: .utf8)
    let rest = try #require(text.components(separatedBy: "\n\(heading)").dropFirst().first)
    let section = try #require(rest.components(separatedBy: "\n## ").first)
    let row = try #require(section.split(separator: "\n").first { $0.hasPrefix("| \(name)") }, "\(name)")
    return String(try #require(row.components(separatedBy: " | ").dropFirst().first))
  }

  /// `1,024` for 1024.
  private static func grouped(_ number: some BinaryInteger) -> String {
    number < 1_000 ? "\(number)" : "\(grouped(number / 1_000)),\(String(format: "%03d", Int(number % 1_000)))"
  }

  @Test("are those of the code")
  func numbers() throws {
    func bytes(_ number: Int) -> String { "\(Self.grouped(number)) bytes" }
    let rows = [
      (
        "body of a message frame",
        "the receiver's frame limit; \(Self.grouped(WireLimits.smallestFrame)) at least, "
          + "\(Self.grouped(WireLimits.largestFrame)) at most"
      ),
      ("body of another frame", bytes(WireLimits.controlFrame)),
      ("session id, name, media type", bytes(WireLimits.name)),
      ("context of an invitation", bytes(WireLimits.context)),
      ("greeting", bytes(WireLimits.greeting)),
      ("invitations of a side without an answer", "\(WireLimits.unansweredInvitations)"),
      ("introductions of a side without an answer", "\(WireLimits.unansweredIntroductions)"),
      ("addresses of an introduction", "\(WireLimits.introducedAddresses)"),
      ("detail", bytes(WireLimits.detail)),
      ("name of a resource", bytes(WireLimits.resourceName)),
      ("folders of a resource", "\(bytes(WireLimits.resourceFolder)), 16 names"),
      ("path of a stored resource", bytes(WireLimits.storedPath)),
      ("metadata of a resource", bytes(WireLimits.metadata)),
      ("content identity of a resource", bytes(WireLimits.contentIdentity)),
      ("parameters of a hello, fields of an offer", "\(WireLimits.parameters)"),
      ("name of a stream", bytes(WireLimits.streamName)),
      ("transfer numbers, stream numbers, tunnel numbers", "0 to \(Self.grouped(WireLimits.transferNumbers - 1))"),
      ("tunnels of a side with one member", "\(WireLimits.tunnels)"),
      ("relays between two ends of a tunnel", "\(WireLimits.relays)"),
      (
        "silence",
        "\(Self.grouped(WireLimits.silence.lowerBound)) to \(Self.grouped(WireLimits.silence.upperBound)) ms"
      ),
      ("`removeMember` and", "\(Self.grouped(Allowance.memberWords.burst)) an association, and one more each second"),
      (
        "`withdraw`, `abandon`,",
        "\(Self.grouped(Allowance.uncredited.burst)) an association, "
          + "\(Int(Duration.seconds(1) / Allowance.uncredited.interval)) more each second, "
          + "and \(Allowance.uncreditedForEach) more for each"
      ),
    ]
    for (name, beginning) in rows { #expect(try Self.row(name).hasPrefix(beginning), "\(name): \(beginning)") }
    #expect(WireLimits.sessionID == WireLimits.name && WireLimits.mediaType == WireLimits.name)
    #expect(WireLimits.streamNumbers == WireLimits.transferNumbers)
    #expect(WireLimits.tunnelNumbers == WireLimits.transferNumbers)
    #expect(Allowance.memberWords.interval == .seconds(1))
  }

  @Test("that stand in sentences are those of the code, too")
  func sentences() throws {
    let path = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../Documentation/wire-format.md")
    let text = try String(contentsOf: path.standardized, encoding: .utf8)
    let configuration = EngineConfiguration(sessionID: "test", name: "x")
    let keeping = KeepingLimits(configuration)
    let own = Allowance.ownPauses
    var one = configuration
    one.transferLimit += 1
    var other = configuration
    other.streamLimit += 1
    let rest = configuration.answerLimit
    let ofTransfer = one.answerLimit - rest
    let ofStream = other.answerLimit - rest
    let without = rest - configuration.transferLimit * ofTransfer - configuration.streamLimit * ofStream
    let frames = keeping.frames - 2 * (configuration.transferLimit + configuration.streamLimit)
    func number(_ number: Int) -> String { Self.grouped(number) }
    for sentence in [
      "beyond that, \(number(without)) bytes, \(number(ofTransfer)) for\n  each transfer and \(ofStream) for each stream",
      "and \(KeepingLimits.numberCost) for each number of its own transfers and streams that was in use",
      "or when more than \(number(frames)) frames other than `message`",
      "or\n  when more than \(KeepingLimits.strangerFrames) frames are, by a node that is no member",
      "all together: \(number(Allowance.uncredited.burst)), and more",
      "to \(number(own.burst)), \(Int(Duration.seconds(1) / own.interval)) more each second, "
        + "and \(Allowance.ownPausesForEach) for each offer of either side",
      "this implementation has \(number(Link.controlLimit)) bytes for a member, "
        + "\(number(KeepingLimits.strangerControl)) for another node",
    ] { #expect(text.contains(sentence), "\(sentence)") }
  }

  @Test("of questions and codes are those of the code")
  func questionsAndCodes() throws {
    let (questions, codes) = (QuestionQueue.Limits(), CodeTries.Limits())
    let ordinals = ["first", "second", "third", "fourth", "fifth"]
    #expect(codes.blockTime == .seconds(3_600))
    let rows = [
      (
        "questions at a time",
        "one for a key, one for an address, \(questions.open) in all (programs that ask at a terminal: 1); "
          + "\(questions.waiting) wait, of one address \(questions.waitingOfAddress), "
      ),
      ("a question while others wait", "\(Int(questions.patience / .seconds(1))) s"),
      (
        "pause after a question",
        "\(Int(codes.firstPause / .seconds(1))) s for the key, doubling up to "
          + "\(Int(codes.longestPause / .seconds(60))) minutes; for the address from the \(ordinals[codes.freeOfAddress]) on"
      ),
      (
        "wrong codes of a key",
        "\(codes.wrongCodes) that differed, or \(codes.triesOfKey) with those that broke off; then it is declined for an hour"
      ),
      ("wrong codes of an address", "\(codes.triesOfAddress) over all its keys; then all of them are"),
      ("wrong codes of all strangers together", "\(codes.triesOfAll) in an hour; "),
    ]
    for (name, beginning) in rows {
      #expect(try Self.row(name, in: "## 7. ").hasPrefix(beginning), "\(name): \(beginning)")
    }
  }

  @Test("leave room for what we say ourselves")
  func own() {
    let (own, others) = ([Allowance.ownRemovals, .ownAsks], Allowance.memberWords)
    #expect(own.reduce(0) { $0 + $1.burst } <= others.burst)
    #expect(own.reduce(0) { $0 + 1 / ($1.interval / .seconds(1)) } <= 1 / (others.interval / .seconds(1)))
    // Beside the one end of each thing that is begun.
    #expect(Allowance.ownPauses.burst <= Allowance.uncredited.burst)
    #expect(Allowance.ownPauses.interval >= Allowance.uncredited.interval)
    #expect(Allowance.ownPausesForEach + 2 <= Allowance.uncreditedForEach)
  }
}
