import Glibc
import PiconetWire

/// The file `known-peers` of the state folder. Any thread may call it; it may block on the disk, and for about five
/// seconds on the lock.
public struct KnownPeersFile: Sendable {
  static let fileName = "known-peers"
  static let byteLimit = 8 << 20

  private let directory: StateDirectory
  var lockTime = StateLock.longestTime

  public init(directory: StateDirectory) { self.directory = directory }

  private var file: StateFile { StateFile(directory: directory, name: Self.fileName, limit: Self.byteLimit) }

  /// The strangers that are forgiven, in the same folder.
  public var forgiveness: ForgivenessFile { ForgivenessFile(directory: directory) }

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
  /// returns it is on the disk. What the file held before is kept beside it.
  /// - Parameter act: one or several of `KnownPeers`' acts; nothing is written if it throws or changes nothing.
  /// - Returns: what the file holds now.
  @discardableResult
  public func change(
    _ act: (inout KnownPeers) throws(StateFailure) -> Void
  ) throws(StateFailure) -> KnownPeers {
    try locked { () throws(StateFailure) in
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
      try file.replace(text, keepingFormer: true)
      return known
    }
  }

  /// Writes a file of an older version anew, since that version can't tell that its end is missing.
  public func renewOld() throws(StateFailure) {
    guard try file.read() != nil, try load().isOld else { return }
    try locked { () throws(StateFailure) in
      let known = try load()
      if known.isOld { try file.replace(known.text, keepingFormer: true) }
    }
  }

  /// The lock has a file of its own, since the file itself is replaced each time.
  private func locked<Value>(_ body: () throws(StateFailure) -> Value) throws(StateFailure) -> Value {
    try directory.prepare()
    let lock = try StateLock(directory.file(".known-peers.lock"), within: lockTime)
    defer { lock.release() }
    return try body()
  }
}
