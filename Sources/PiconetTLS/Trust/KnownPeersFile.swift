import Glibc
import PiconetWire

/// The file `known-peers` of the state folder. Any thread may call it; it may block on the disk, and for the lock at most
/// a second.
public struct KnownPeersFile: Sendable {
  static let fileName = "known-peers"
  static let byteLimit = 4 << 20
  private static let header = "# Piconet: one line a device: fingerprint, name, first seen (seconds since 1970)\n"
  private static let lockPause: UInt32 = 5_000  // microseconds

  private let directory: StateDirectory
  /// With a pause after each: one second in all.
  var lockAttempts = 200

  public init(directory: StateDirectory) { self.directory = directory }

  private var file: StateFile { StateFile(directory: directory, name: Self.fileName, limit: Self.byteLimit) }

  /// The file's path, whether it exists or not.
  public var path: String { file.path }

  /// Reads the file; empty if there is none.
  public func load() throws(StateFailure) -> KnownPeers { KnownPeers(path: path, text: try file.read() ?? []) }

  /// As `load`, where the file is another one than at the last call with this memory, or was written to since; else what was read then.
  public func load(_ memory: inout Memory) throws(StateFailure) -> KnownPeers {
    // Asked before it is read: what changes meanwhile is then read once too often, and never once too seldom.
    let version = try file.version()
    if let known = memory.known, memory.version == version { return known }
    let known = try load()
    memory = Memory(version: version, known: known)
    return known
  }

  /// What was read last, and of which file.
  public struct Memory: Sendable {
    fileprivate var version: StateFile.Version?
    fileprivate var known: KnownPeers?

    public init() {}

    fileprivate init(version: StateFile.Version?, known: KnownPeers) {
      self.version = version
      self.known = known
    }
  }

  /// Adds a peer; a known one stays as it is. Whatever another process has written in the meantime stays, too.
  /// - Parameter seconds: now, since 1970.
  /// - Returns: what the file holds now.
  @discardableResult
  public func remember(_ peer: PeerID, name: String, at seconds: Int64) throws(StateFailure) -> KnownPeers {
    try directory.prepare()
    let lock = try lock()
    // Closing gives the lock back; the file stays, since removing it would let two processes hold two locks.
    defer { Glibc.close(lock) }
    var known = KnownPeers(path: path, text: try file.read() ?? Array(Self.header.utf8))
    guard try known.remember(peer, name: name, at: seconds) else { return known }
    let text = known.text
    guard text.count <= Self.byteLimit else {
      throw StateFailure(
        .limit, path: path, "would grow beyond \(Self.byteLimit) bytes; remove lines that you don't need")
    }
    try file.replace(text)
    return known
  }

  /// A lock of its own file: the file itself is replaced each time.
  private func lock() throws(StateFailure) -> Int32 {
    let path = directory.file(".known-peers.lock")
    let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .system("open", path: path) }
    // Not simply waiting: a stopped process may hold the lock for ever.
    for _ in 0..<lockAttempts {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return descriptor }
      guard errno == EWOULDBLOCK || errno == EINTR else {
        let failure = StateFailure.system("flock", path: path)
        Glibc.close(descriptor)
        throw failure
      }
      usleep(Self.lockPause)
    }
    Glibc.close(descriptor)
    throw StateFailure(.busy, path: path, "another process holds the lock; see which with: fuser '\(path)'")
  }
}
