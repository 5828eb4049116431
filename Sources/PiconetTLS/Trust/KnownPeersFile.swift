import Glibc
import PiconetWire

/// The file `known-peers` of the state folder. Any thread may call it; it may block on the disk, and for at most a
/// second on the lock.
public struct KnownPeersFile: Sendable {
  static let fileName = "known-peers"
  static let byteLimit = 8 << 20
  private static let lockPause: UInt32 = 5_000  // microseconds

  private let directory: StateDirectory
  /// With the pause after each: one second in all.
  var lockAttempts = 200

  public init(directory: StateDirectory) { self.directory = directory }

  private var file: StateFile { StateFile(directory: directory, name: Self.fileName, limit: Self.byteLimit) }

  /// The file's path, whether it exists or not.
  public var path: String { file.path }

  /// The folders that changes are written in: the state folder, which is made if it is missing, and the one of the file
  /// that a link in this one's place leads to.
  public func writtenFolders() throws(StateFailure) -> Set<String> {
    try directory.prepare()
    return [directory.path, try file.target().directory.path]
  }

  /// Reads the file; empty if there is none.
  public func load() throws(StateFailure) -> KnownPeers { try Self.parsed(try file.read(), path: path) }

  private static func parsed(_ text: [UInt8]?, path: String) throws(StateFailure) -> KnownPeers {
    guard let text else { return KnownPeers(path: path) }
    return try KnownPeers(path: path, text: text)
  }

  /// As `load` if the file was replaced or written to since the last call with this memory; otherwise what was read
  /// then.
  public func load(_ memory: inout Memory) throws(StateFailure) -> KnownPeers {
    // Asked before the file is read: if it changes meanwhile, it is read once too often, never once too seldom.
    let version = try file.version()
    if let known = memory.known, memory.version == version { return known }
    let known = try load()
    memory = Memory(version: version, known: known, readCount: memory.readCount + 1)
    return known
  }

  /// What was last read, and which version of the file that was.
  public struct Memory: Sendable {
    fileprivate var version: StateFile.Version?
    fileprivate var known: KnownPeers?
    /// How often the file was read and parsed.
    public private(set) var readCount = 0

    public init() {}

    fileprivate init(version: StateFile.Version?, known: KnownPeers, readCount: Int) {
      self.version = version
      self.known = known
      self.readCount = readCount
    }
  }

  /// Changes what the file holds now, whatever another process has written in the meantime, and writes it: when this
  /// returns it is on the disk.
  /// - Parameter act: one or several of `KnownPeers`' acts; nothing is written if it throws or changes nothing.
  /// - Returns: what the file holds now.
  @discardableResult
  public func change(
    _ act: (inout KnownPeers) throws(StateFailure) -> Void
  ) throws(StateFailure) -> KnownPeers {
    try directory.prepare()
    let lock = try lock()
    // The file stays, since removing it would let two processes hold two locks. Closing alone releases the lock only
    // when no child that is about to exec has a copy of the descriptor.
    defer {
      _ = flock(lock, LOCK_UN)
      Glibc.close(lock)
    }
    let before = try load()
    var known = before
    try act(&known)
    if known.entries == before.entries { return known }
    let text = known.text
    guard text.count <= Self.byteLimit else {
      throw StateFailure(
        .limit, path: path,
        "would grow beyond \(Self.byteLimit) bytes; forget devices that you don't need: piconet trust forget NAME")
    }
    try file.replace(text)
    return known
  }

  /// The lock has a file of its own, since the file itself is replaced each time.
  private func lock() throws(StateFailure) -> Int32 {
    let path = directory.file(".known-peers.lock")
    let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw .system("open", path: path) }
    // It does not simply block: a stopped process may hold the lock forever.
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
