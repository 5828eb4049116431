import PiconetEngine
import PiconetWire
import Testing

@Suite("The rules of a configuration")
struct ConfigurationTests {
  /// A setting at the limit of what is allowed, one beyond it, and words of the rule.
  struct Rule: CustomTestStringConvertible, Sendable {
    let word: String
    let atLimit: @Sendable (inout EngineConfiguration) -> Void
    let beyond: @Sendable (inout EngineConfiguration) -> Void
    var testDescription: String { word }
    init(
      _ word: String, _ atLimit: @escaping @Sendable (inout EngineConfiguration) -> Void,
      beyond: @escaping @Sendable (inout EngineConfiguration) -> Void
    ) {
      self.word = word
      self.atLimit = atLimit
      self.beyond = beyond
    }
  }

  private static func text(_ count: Int) -> String { String(repeating: "x", count: count) }

  static let rules: [Rule] = [
    Rule("a session id", { $0.sessionID = "x" }, beyond: { $0.sessionID = "" }),
    Rule("a session id", { $0.sessionID = text(127) }, beyond: { $0.sessionID = text(128) }),
    Rule("a session id", { $0.sessionID = text(125) + "é" }, beyond: { $0.sessionID = text(126) + "é" }),
    Rule("a name", { $0.name = "x" }, beyond: { $0.name = "" }),
    Rule("a name", { $0.name = text(63) }, beyond: { $0.name = text(64) }),
    Rule("a name", { $0.name = text(61) + "é" }, beyond: { $0.name = text(62) + "é" }),
    Rule("control characters", { $0.name = "a b" }, beyond: { $0.name = "a\u{1F}b" }),
    Rule("control characters", { $0.name = "~" }, beyond: { $0.name = "\u{7F}" }),
    Rule("control characters", { $0.name = " " }, beyond: { $0.name = "a\r\nb" }),
    Rule("control characters", { $0.sessionID = "a b" }, beyond: { $0.sessionID = "a\u{9B}b" }),
    Rule("control characters", { $0.sessionID = "~" }, beyond: { $0.sessionID = "a\u{2028}b" }),
    Rule("members", { $0.capacity = 2 }, beyond: { $0.capacity = 1 }),
    Rule("members", { $0.capacity = 1_024 }, beyond: { $0.capacity = 1_025 }),
    Rule("message limit", { $0.messageLimit = 1 }, beyond: { $0.messageLimit = 0 }),
    Rule(
      "message limit",
      {
        $0.messageLimit = 64 << 20
        $0.messageWindow = 65 << 20
      },
      beyond: {
        $0.messageLimit = 64 << 20 + 1
        $0.messageWindow = 65 << 20
      }),
    Rule("message window", { $0.messageWindow = 95 * 1_024 + 32 }, beyond: { $0.messageWindow = 95 * 1_024 + 31 }),
    Rule("message window", { $0.messageWindow = 1 << 30 }, beyond: { $0.messageWindow = 1 << 30 + 1 }),
    Rule("frame limit", { $0.frameLimit = 1_024 }, beyond: { $0.frameLimit = 1_023 }),
    Rule(
      "frame limit",
      {
        $0.frameLimit = 1 << 20
        ($0.readSize, $0.transferWindow, $0.transmitWindow) = (2 << 20, 2 << 20, 2 << 20)
      },
      beyond: { $0.frameLimit = 1 << 20 + 1 }),
    Rule("transfers open", { $0.transferLimit = 1 }, beyond: { $0.transferLimit = 0 }),
    Rule("transfers open", { $0.transferLimit = 16_384 }, beyond: { $0.transferLimit = 16_385 }),
    Rule("transfer window", { $0.transferWindow = 2 * 16_381 }, beyond: { $0.transferWindow = 2 * 16_381 - 1 }),
    Rule("transfer window", { $0.transferWindow = 1 << 30 }, beyond: { $0.transferWindow = 1 << 30 + 1 }),
    Rule("smallest transfer window", { $0.smallestTransferWindow = 1 }, beyond: { $0.smallestTransferWindow = 0 }),
    Rule("read", { $0.readSize = 16_381 }, beyond: { $0.readSize = 16_380 }),
    Rule("read", { $0.readSize = 1 << 30 }, beyond: { $0.readSize = 1 << 30 + 1 }),
    Rule("transmit window", { $0.transmitWindow = 2 * 16_381 }, beyond: { $0.transmitWindow = 2 * 16_381 - 1 }),
    Rule("transmit window", { $0.transmitWindow = 1 << 30 }, beyond: { $0.transmitWindow = 1 << 30 + 1 }),
    Rule(
      "disconnect timeout", { $0.disconnectTimeout = .seconds(2) },
      beyond: { $0.disconnectTimeout = .seconds(2) - .nanoseconds(1) }),
    Rule(
      "disconnect timeout", { $0.disconnectTimeout = .seconds(86_400) },
      beyond: { $0.disconnectTimeout = .seconds(86_400) + .nanoseconds(1) }),
    Rule("timeout", { $0.handshakeTimeout = .nanoseconds(1) }, beyond: { $0.handshakeTimeout = .zero }),
    Rule("timeout", { $0.idleTimeout = .nanoseconds(1) }, beyond: { $0.idleTimeout = .zero }),
    Rule("timeout", { $0.leaveTimeout = .nanoseconds(1) }, beyond: { $0.leaveTimeout = .zero }),
    Rule("in its handshake", { $0.handshakeLimit = 1 }, beyond: { $0.handshakeLimit = 0 }),
    Rule("associations", { $0.associationLimit = 1 }, beyond: { $0.associationLimit = 0 }),
    Rule("in sight", { $0.sightingLimit = 1 }, beyond: { $0.sightingLimit = 0 }),
    Rule("transports", { $0.transports = [.tcp] }, beyond: { $0.transports = [] }),
    Rule("transports", { $0.transports = [.tcp, .le] }, beyond: { $0.transports = [.tcp, .le, .tcp] }),
  ]

  @Test("the defaults are allowed")
  func defaults() throws {
    try EngineConfiguration(sessionID: "photos", name: "Ada").validate()
  }

  @Test("a setting is allowed at its limit and refused one beyond, with its rule", arguments: rules)
  func limits(rule: Rule) throws {
    var allowed = EngineConfiguration(sessionID: "photos", name: "Ada")
    rule.atLimit(&allowed)
    #expect(throws: Never.self) { try allowed.validate() }
    var refused = EngineConfiguration(sessionID: "photos", name: "Ada")
    rule.beyond(&refused)
    let error = #expect(throws: InvalidConfiguration.self) { try refused.validate() }
    #expect(error?.rule.contains(rule.word) == true, "\(error?.rule ?? "nothing")")
    #expect(error?.description == error?.rule)
  }
}
