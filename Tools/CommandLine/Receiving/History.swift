import Glibc
import Synchronization

/// The record of received files and refused senders: a line each in a file below the state folder, for a person who
/// asks later. The newest lines are kept, up to twice `byteLimit`. Any thread may use it.
final class History: Sendable {
  enum What: String, Sendable {
    case received, declined
  }

  /// A line of the file.
  struct Entry: Hashable, Sendable {
    /// Seconds since 1970-01-01 00:00 UTC, by this machine's clock.
    let time: Int64
    let what: What
    /// 64 hexadecimal digits.
    let peer: String
    /// What the peer was called; may be its own words.
    let name: String
    let bytes: Int64
    /// Where the file is; why the peer was turned away.
    let text: String
  }

  /// A file as large as this becomes the older one, in place of that.
  static let byteLimit: Int64 = 1 << 20
  /// How many names are remembered, of peers that are here.
  private static let nameLimit = 256

  private struct State {
    var names: [String: String] = [:]
    /// Whether writing has failed: said once.
    var hasFailed = false
  }

  private let path: LocalPath
  private let state = Mutex(State())

  /// - Parameter folder: the state folder; it is made when the device's key is stored there.
  init(in folder: String) { path = LocalPath(folder + "/history") }

  /// - Returns: why it can't be written, the first time.
  func record(_ event: ProgramEvent, at time: Int64 = Int64(Glibc.time(nil))) -> String? {
    switch event {
    case .connected(let connected):
      state.withLock { state in
        if state.names.count >= Self.nameLimit { state.names = [:] }
        state.names[connected.peer] = connected.name
      }
      return nil
    case .stored(let stored):
      let name = state.withLock { $0.names[stored.peer] } ?? ""
      return write(
        Entry(
          time: time, what: .received, peer: stored.peer, name: name, bytes: stored.bytes, text: stored.path))
    case .declined(let declined):
      return write(
        Entry(
          time: time, what: .declined, peer: declined.peer, name: declined.name, bytes: 0,
          text: declined.message ?? declined.reason))
    case .listening, .identity, .found, .changed, .lost, .connecting, .code, .codeSet, .codeFailed, .suspended,
      .resumed, .offered, .progress, .present, .skipped, .failed, .warning, .finished:
      return nil
    }
  }

  private func write(_ entry: Entry) -> String? {
    state.withLock { state in
      guard let failure = append(entry.line) else { return nil }
      defer { state.hasFailed = true }
      return state.hasFailed
        ? nil : "\(path.readable): \(ErrorNumber.text(failure)); what is received is not noted there"
    }
  }

  /// - Returns: the errno of what failed.
  private func append(_ line: String) -> Int32? {
    let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY
    let descriptor = path.withCString { open($0, flags, 0o600) }
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    var status = stat()
    if fstat(descriptor, &status) == 0, status.st_size >= Self.byteLimit {
      _ = path.withCString { old in older.withCString { rename(old, $0) } }
    }
    // Whole, so that lines of two programs do not mix.
    let bytes = Array(line.utf8)
    let count = Glibc.write(descriptor, bytes, bytes.count)
    return count == bytes.count ? nil : count < 0 ? errno : ENOSPC
  }

  private var older: LocalPath { LocalPath(bytes: path.bytes + Array(".1".utf8)) }

  /// The last entries, the oldest first; damaged lines are passed over.
  /// - Throws: the errno of what failed; there being no file yet is no failure.
  func last(_ count: Int) throws(SystemFailure) -> [Entry] {
    var lines: [Entry] = []
    for path in [older, path] {
      for line in try Self.content(of: path).split(separator: UInt8(ascii: "\n")) {
        if let entry = Entry(line: String(decoding: line, as: UTF8.self)) { lines.append(entry) }
      }
    }
    return lines.suffix(count)
  }

  private static func content(of path: LocalPath) throws(SystemFailure) -> [UInt8] {
    do throws(SystemFailure) {
      // A line more than the limit is written at most.
      return try SystemFile.bytes(path, atMost: Int(2 * byteLimit), flags: O_NOFOLLOW)
    } catch {
      if error.number == ENOENT { return [] }
      throw error
    }
  }
}

extension History.Entry {
  /// Fields with tabs in between; a tab, a newline and a backslash in them are written as in C.
  var line: String {
    ["\(time)", what.rawValue, peer, name, "\(bytes)", text].map(Self.escaped).joined(separator: "\t") + "\n"
  }

  /// Nil if the line is not one of the history.
  init?(line: String) {
    let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map { Self.unescaped($0) }
    guard fields.count == 6, let time = Int64(fields[0]), let what = History.What(rawValue: fields[1]),
      let bytes = Int64(fields[4])
    else { return nil }
    self.init(time: time, what: what, peer: fields[2], name: fields[3], bytes: bytes, text: fields[5])
  }

  private static func escaped(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "\t": result += "\\t"
      case "\n": result += "\\n"
      case "\\": result += "\\\\"
      default: result.unicodeScalars.append(scalar)
      }
    }
  }

  private static func unescaped(_ text: Substring) -> String {
    var result = ""
    var isEscaped = false
    for scalar in text.unicodeScalars {
      if isEscaped {
        result.unicodeScalars.append(scalar == "t" ? "\t" : scalar == "n" ? "\n" : scalar)
        isEscaped = false
      } else if scalar == "\\" {
        isEscaped = true
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// As a line: `2026-11-24 14:02  Phone (9f86d081884c)  3.2 MB  /home/anna/Pictures/a.jpg`.
  /// - Parameter safe: makes a peer's words safe to show.
  func text(safe: (String) -> String) -> String {
    let who = "\(safe(name.isEmpty ? "?" : name)) (\(safe(String(peer.prefix(12)))))"
    let what = what == .declined ? "turned away: \(safe(text))" : "\(HumanFigures.bytes(bytes))  \(safe(text))"
    return "\(Self.date(time))  \(who)  \(what)"
  }

  private static func date(_ time: Int64) -> String {
    var seconds = time_t(time)
    var parts = tm()
    guard localtime_r(&seconds, &parts) != nil else { return "\(time)" }
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
      guard let start = buffer.baseAddress, strftime(start, buffer.count, "%Y-%m-%d %H:%M", &parts) > 0 else {
        return "\(time)"
      }
      return String(cString: start)
    }
  }
}
