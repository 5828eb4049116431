import Glibc
import Piconet
import PiconetTerminal

/// `piconet trust`: a person's decisions about keys.
struct TrustProgram: Sendable {
  let arguments: TrustArguments
  let environment: ProgramEnvironment
  let console: Console

  func run() {
    do throws(TransferFailure) {
      let command: TrustCommand
      do throws(UsageError) {
        command = try TrustCommand(arguments.words)
      } catch {
        throw TransferFailure(word: "usage", message: error.message, exitCode: .usage)
      }
      try failing { () throws(PiconetError) in _ = try environment.identity }
      try perform(command)
    } catch {
      console.fail(error.word, console.safe(error.message), error.exitCode, event: false)
    }
  }

  private func perform(_ command: TrustCommand) throws(TransferFailure) {
    let now = Int64(time(nil))
    switch command {
    case .list: try list()
    case .add(let name, let key):
      try checkOther(key)
      let entry = try change(key) { (known) throws(StateFailure) in
        let digits = key.shortDescription
        if let entry = known[key], ![name, "\(name) (\(digits))"].contains(entry.name) {
          throw StateFailure(
            .nameTaken, path: "",
            "\(digits) is known already, as '\(entry.name)'; to call it otherwise: piconet trust rename \(digits) NAME")
        }
        try known.take(
          key, name: name, at: now, confirmed: .fingerprint,
          rights: [PeerRight(.send, ProgramEnvironment.imagesProgram)])
      }
      if let entry, entry.name != name {
        console.note(
          "'\(console.safe(name))' alone would pass for another device: here it is '\(console.safe(entry.name))'")
      }
    case .confirm(let reference, let key):
      let peer = try one(reference)
      guard peer == key else {
        throw TransferFailure(
          word: "identity",
          message:
            "what is known here begins with \(peer.shortDescription), what you gave with \(key.shortDescription): not the same device",
          exitCode: .identity)
      }
      try change(peer) { (known) throws(StateFailure) in try known.confirm(peer, by: .fingerprint) }
    case .rename(let reference, let name):
      let peer = try one(reference)
      try change(peer) { (known) throws(StateFailure) in try known.rename(peer, to: name) }
    case .allow(let reference, let rights):
      let peer = try one(reference)
      try change(peer) { (known) throws(StateFailure) in try known.allow(peer, rights) }
    case .deny(let reference, let rights):
      let peer = try one(reference)
      try change(peer) { (known) throws(StateFailure) in try known.deny(peer, rights) }
    case .block(let reference):
      let peer = if let key = PeerID(hexadecimal: reference.text) { key } else { try one(reference) }
      try checkOther(peer)
      try change(peer) { (known) throws(StateFailure) in try known.block(peer, at: now) }
    case .unblock(let reference):
      let peer = try one(reference)
      try change(peer) { (known) throws(StateFailure) in try known.unblock(peer) }
    case .forget(let reference):
      let peer = try one(reference)
      try change(peer) { (known) throws(StateFailure) in try known.forget(peer) }
      console.note("\(peer.shortDescription) is a stranger now")
    case .forgive(let reference): try forgive(reference, now)
    case .names:
      for entry in try failing({ () throws(PiconetError) in try environment.identity.trustTable() }).entries {
        // What a terminal does not show as it is can't be typed, either.
        let isPlain = displaySafe(entry.name) == entry.name
        console.write((isPlain ? entry.name : entry.id.shortDescription) + "\n")
      }
    case .identity: tell(own: try failing { () throws(PiconetError) in try environment.identity.fingerprint() })
    case .export(let path): try export(to: path)
    case .restore(let path): try restore(from: path)
    case .renew:
      guard arguments.force else {
        throw TransferFailure(
          word: "usage", message: "others would not know this device any more; say so with --force", exitCode: .usage)
      }
      tell(own: try failing { () throws(PiconetError) in try environment.identity.renewIdentity() })
    }
  }

  /// Forgives wrong codes. Running programs have counted them; they check this before they judge a key.
  private func forgive(_ reference: PeerReference?, _ now: Int64) throws(TransferFailure) {
    var digits = ""
    if let reference {
      let known = try failing { () throws(PiconetError) in try environment.identity.trustTable() }
      // A stranger is in no table.
      if reference.matches(in: known).isEmpty {
        guard let stranger = reference.digits else {
          throw TransferFailure(
            word: "no-such-peer",
            message: "no '\(reference.text)' is known; name a stranger by the first digits of its key",
            exitCode: .noSuchPeer)
        }
        digits = stranger
      } else {
        digits = try one(reference).description
      }
    }
    try failing { () throws(PiconetError) in try environment.identity.forgive(digits, at: now) }
    let who = digits.isEmpty ? "all strangers" : String(digits.prefix(SightedPeer.shortFingerprint))
    console.note("Programs that run here listen to \(who) again, whatever codes were wrong")
  }

  /// Refuses this device's own key, which can't be another device's.
  private func checkOther(_ key: PeerID) throws(TransferFailure) {
    guard try failing({ () throws(PiconetError) in try environment.identity.fingerprint() }) == key else { return }
    throw TransferFailure(
      word: "usage", message: "\(key.shortDescription) is this device's own key, which its programs always let in",
      exitCode: .usage)
  }

  /// The key that the person means.
  private func one(_ reference: PeerReference) throws(TransferFailure) -> PeerID {
    let known = try failing { () throws(PiconetError) in try environment.identity.trustTable() }
    let matches = reference.matches(in: known)
    if let only = matches.first, matches.count == 1 { return only.id }
    guard matches.isEmpty else {
      let list = matches.map { "\n  \($0.name) \($0.id)" }.joined()
      throw TransferFailure(
        word: "ambiguous", message: "several are meant by '\(reference.text)'; name one by its fingerprint:\(list)",
        exitCode: .usage)
    }
    throw TransferFailure(
      word: "no-such-peer", message: "no '\(reference.text)' is known; see who is with: piconet trust",
      exitCode: .noSuchPeer)
  }

  /// - Returns: what is known of the peer now.
  @discardableResult
  private func change(
    _ peer: PeerID, _ act: (inout KnownPeers) throws(StateFailure) -> Void
  ) throws(TransferFailure) -> KnownPeer? {
    let known = try failing { () throws(PiconetError) in try environment.identity.changeTrust(act) }
    if let entry = known[peer] { console.result(line(entry), evenIfQuiet: true) }
    if let entry = known[peer], console.isJSON { console.write(json(entry)) }
    return known[peer]
  }

  private func failing<Value>(_ body: () throws(PiconetError) -> Value) throws(TransferFailure) -> Value {
    do throws(PiconetError) {
      return try body()
    } catch {
      // What the person wants conflicts with the table: the file is not at fault.
      if let failure = error.underlying as? StateFailure, [.nameTaken, .blocked].contains(failure.code) {
        throw TransferFailure(word: "usage", message: failure.detail, exitCode: .usage)
      }
      throw TransferFailure(error, on: .receiver)
    }
  }

  // MARK: Showing

  private func list() throws(TransferFailure) {
    let storage = try failing { () throws(PiconetError) in try environment.identity }
    let known = try failing { () throws(PiconetError) in try storage.trustTable() }
    console.tell(try failing { () throws(PiconetError) in try storage.damagedKnownPeers() })
    if known.entries.isEmpty { console.note("Nobody is known here yet") }
    for entry in known.entries {
      if console.isJSON { console.write(json(entry)) } else { console.result(line(entry), evenIfQuiet: true) }
    }
    if known.entries.count * 10 >= KnownPeers.entryLimit * 9 {
      console.note("\(known.entries.count) of at most \(KnownPeers.entryLimit) devices are known")
    }
  }

  /// `Mum  code  push:images send:images  since 2026-11-22  9f86...`.
  private func line(_ entry: KnownPeer) -> String {
    let rights = entry.isBlocked ? "blocked" : entry.rights.isEmpty ? "no rights" : words(entry).joined(separator: " ")
    let places = entry.addresses.isEmpty ? "" : "  at \(entry.addresses.joined(separator: " "))"
    return console.safe(
      "\(entry.name)  \(entry.confirmation.rawValue)  \(rights)  since \(day(entry.since))\(places)  \(entry.id)")
  }

  private func words(_ entry: KnownPeer) -> [String] {
    (entry.isBlocked ? ["blocked"] : []) + entry.rights.map(\.description).sorted()
  }

  private func day(_ seconds: Int64) -> String {
    var (when, fields) = (time_t(seconds), tm())
    guard gmtime_r(&when, &fields) != nil else { return "?" }
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(fields.tm_year + 1900)-\(two(fields.tm_mon + 1))-\(two(fields.tm_mday))"
  }

  private func json(_ entry: KnownPeer) -> String {
    var object = JSONObject()
    object.add("peer", entry.id.description)
    object.add("name", entry.name)
    object.add("since", entry.since)
    object.add("confirmed", entry.confirmation.rawValue)
    object.add("rights", words(entry))
    if !entry.addresses.isEmpty { object.add("addresses", entry.addresses) }
    return object.line + "\n"
  }

  // MARK: This device

  private func tell(own peer: PeerID) {
    if console.isJSON {
      var object = JSONObject()
      object.add("identity", peer.description)
      console.write(object.line + "\n")
    } else {
      console.result(peer.description, evenIfQuiet: true)
    }
  }

  private func passphrase() throws(TransferFailure) -> [UInt8]? {
    guard let path = arguments.passphraseFile else { return nil }
    let bytes = try KeyFile.read(path, atMost: 4096)
    let passphrase = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    guard !passphrase.isEmpty else {
      throw TransferFailure(
        word: "usage", message: "\(path.readable): its first line is no passphrase, which has 1 to 1,024 bytes",
        exitCode: .usage)
    }
    return Array(passphrase)
  }

  private func export(to path: LocalPath) throws(TransferFailure) {
    let passphrase = try passphrase()
    let pem = try failing { () throws(PiconetError) in try environment.identity.exportIdentity(passphrase: passphrase) }
    try KeyFile.write(pem, to: path, replacing: arguments.force)
    console.note(
      passphrase == nil
        ? "Whoever gets \(console.safe(path.readable)) is this device: keep it safe"
        : "Whoever gets \(console.safe(path.readable)) and the passphrase is this device")
  }

  private func restore(from path: LocalPath) throws(TransferFailure) {
    let passphrase = try passphrase()
    let pem = try KeyFile.read(path, atMost: 65_536)
    let force = arguments.force
    do throws(PiconetError) {
      tell(own: try environment.identity.restoreIdentity(pem, passphrase: passphrase, replacing: force))
    } catch {
      guard (error.underlying as? StateFailure)?.code == .exists else {
        let failure = TransferFailure(error, on: .receiver)
        // A failure of the files here already names them.
        guard error.underlying == nil else { throw failure }
        // RFC 7468, section 11.
        let isLocked = String(decoding: pem, as: UTF8.self).contains("-----BEGIN ENCRYPTED PRIVATE KEY-----")
        let hint = passphrase == nil && isLocked ? ": give its passphrase with --passphrase-file" : ""
        throw TransferFailure(
          word: failure.word, message: "\(path.readable): \(failure.message)\(hint)", exitCode: failure.exitCode)
      }
      throw TransferFailure(
        word: "exists", message: "this device has a key, which would be gone for good; say so with --force",
        exitCode: .localFile)
    }
  }
}
