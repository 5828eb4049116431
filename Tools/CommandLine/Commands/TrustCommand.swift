import Piconet
import PiconetTerminal

/// The request to `piconet trust`, from its words.
enum TrustCommand: Hashable, Sendable {
  case list
  case add(name: String, PeerID)
  case confirm(PeerReference, PeerID)
  case rename(PeerReference, name: String)
  case allow(PeerReference, Set<PeerRight>)
  case deny(PeerReference, Set<PeerRight>)
  case block(PeerReference)
  case unblock(PeerReference)
  case forget(PeerReference)
  /// Nil: all strangers.
  case forgive(PeerReference?)
  case names
  case identity
  case export(LocalPath)
  case restore(LocalPath)
  case renew

  /// - Parameter words: the operands.
  init(_ words: [LocalPath]) throws(UsageError) {
    guard let first = words.first else {
      self = .list
      return
    }
    let rest = Array(words.dropFirst())
    func count(_ range: ClosedRange<Int>, _ usage: String) throws(UsageError) {
      guard range.contains(rest.count) else {
        throw UsageError("usage: piconet trust \(first.readable)" + (usage.isEmpty ? "" : " \(usage)"))
      }
    }
    switch first.readable {
    case "list":
      try count(0...0, "")
      self = .list
    case "add":
      try count(2...2, "NAME FINGERPRINT")
      self = .add(name: try Self.name(rest[0]), try Self.fingerprint(rest[1]))
    case "confirm":
      try count(2...2, "PEER FINGERPRINT")
      self = .confirm(PeerReference(rest[0]), try Self.fingerprint(rest[1]))
    case "rename":
      try count(2...2, "PEER NAME")
      self = .rename(PeerReference(rest[0]), name: try Self.name(rest[1]))
    case "allow":
      try count(2...17, "PEER RIGHT...")
      self = .allow(PeerReference(rest[0]), try Self.rights(rest.dropFirst()))
    case "deny":
      try count(2...17, "PEER RIGHT...")
      self = .deny(PeerReference(rest[0]), try Self.rights(rest.dropFirst()))
    case "block":
      try count(1...1, "PEER|FINGERPRINT")
      self = .block(PeerReference(rest[0]))
    case "unblock":
      try count(1...1, "PEER")
      self = .unblock(PeerReference(rest[0]))
    case "forget":
      try count(1...1, "PEER")
      self = .forget(PeerReference(rest[0]))
    case "forgive":
      try count(0...1, "[PEER|DIGITS]")
      self = .forgive(rest.first.map { PeerReference($0) })
    case "names":
      try count(0...0, "")
      self = .names
    case "identity":
      try count(0...0, "")
      self = .identity
    case "export":
      try count(1...1, "FILE")
      self = .export(rest[0])
    case "restore":
      try count(1...1, "FILE")
      self = .restore(rest[0])
    case "renew":
      try count(0...0, "")
      self = .renew
    default:
      let nearest = NearestWord.to(first.readable, of: Self.words)
      throw UsageError("unknown command 'trust \(displaySafe(first.readable))'\(NearestWord.question(nearest))")
    }
  }

  /// The first words of all of them.
  static var words: [String] { trustCommands.map { String($0.term.prefix { $0 != " " }) } }

  private static func argument(_ word: LocalPath) -> OptionArgument { OptionArgument(bytes: word.bytes) }

  private static func name(_ word: LocalPath) throws(UsageError) -> String {
    try checked("name", word) { (word) throws(UnacceptableValue) in
      let text = try OptionText.text(argument(word), atMost: KnownPeers.nameByteLimit)
      guard KnownPeers.isVisible(name: text) else { throw .because("needs a character that can be seen") }
      guard text != "all" else { throw .because("that is everybody in sight to imagesend --to") }
      return text
    }
  }

  private static func fingerprint(_ word: LocalPath) throws(UsageError) -> PeerID {
    try checked("fingerprint", word) { (word) throws(UnacceptableValue) in try OptionText.fingerprint(argument(word)) }
  }

  /// Reads rights; `push` alone is that of imagesend and imagerecv.
  private static func rights(_ words: ArraySlice<LocalPath>) throws(UsageError) -> Set<PeerRight> {
    var rights: Set<PeerRight> = []
    for word in words {
      rights.insert(
        try checked("right", word) { (word) throws(UnacceptableValue) in
          let text = word.readable
          let whole = text.contains(":") ? text : "\(text):\(ProgramEnvironment.imagesProgram)"
          guard let right = PeerRight(whole) else {
            throw .because(
              "expected send or push, with a program behind it if it is not images, as in push:cat or send:*")
          }
          return right
        })
    }
    return rights
  }

  private static func checked<Value>(
    _ what: String, _ word: LocalPath, _ body: (LocalPath) throws(UnacceptableValue) -> Value
  ) throws(UsageError) -> Value {
    do throws(UnacceptableValue) {
      return try body(word)
    } catch {
      guard case .because(let reason) = error else { throw UsageError("invalid \(what)") }
      throw UsageError("invalid \(what) '\(displaySafe(word.readable))': \(reason)")
    }
  }
}

/// A person's reference to a known peer: its name here, as `imagesend --to` takes it, or 12 digits or more of its
/// fingerprint.
struct PeerReference: Hashable, Sendable {
  let text: String

  init(_ word: LocalPath) { text = word.readable }

  /// Returns all peers that it may mean. Letter case counts only if two names differ by nothing else. A device may have
  /// been remembered under a name that equals another one's digits.
  func matches(in known: KnownPeers) -> [KnownPeer] {
    let names = Dictionary(grouping: known.entries, by: \.name).mapValues { Set($0.map(\.id.description)) }
    let keys = RememberedName(text, in: names).keys
    return known.entries.filter { keys.contains($0.id.description) }
  }

  /// The first digits of a fingerprint, in lower case, also if a name is before them, as programs show a stranger; nil
  /// if it has none.
  var digits: String? {
    let digits = KnownPeer.partDigits(of: text).map { String($0.digits) } ?? text
    return KnownPeer.areDigits(digits) && digits.utf8.count <= 64 ? digits.lowercased() : nil
  }
}
