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

  /// The file of forgiven strangers, in the same folder.
  public var forgiveness: ForgivenessFile { ForgivenessFile(directory: directory) }

  /// The file's path, whether it exists or not.
  public var path: String { file.path }

  /// Returns the folders in which changes are written: the state folder, which is created if it is missing, and the
  /// folder of the file to which a link in this one's place leads.
  public func writtenFolders() throws(StateFailure) -> Set<String> {
    try directory.prepare()
    return [directory.path, try file.target().directory.path]
  }

  /// Reads the file; returns an empty table if it does not exist.
  public func load() throws(StateFailure) -> KnownPeers { try Self.parsed(try file.read(), path: path) }

  private static func parsed(_ text: [UInt8]?, path: String) throws(StateFailure) -> KnownPeers {
    guard let text else { return KnownPeers(path: path) }
    return try KnownPeers(path: path, text: text)
  }

  /// Reads the file if it was replaced or written to since the last call with this memory; otherwise returns the table
  /// from then.
  public func load(_ memory: inout Memory) throws(StateFailure) -> KnownPeers {
    // Checked before the file is read: if it changes meanwhile, it is read once too often, never once too seldom.
    let version = try file.version()
    if let known = memory.known, memory.version == version { return known }
    let known = try load()
    memory = Memory(version: version, known: known, readCount: memory.readCount + 1)
    return known
  }

  /// The last table that was read, and the version of the file at that time.
  public struct Memory: Sendable {
    fileprivate var version: StateFile.Version?
    fileprivate var known: KnownPeers?
    /// The number of times that the file was read and parsed.
    public private(set) var readCount = 0

    public init() {}

    fileprivate init(version: StateFile.Version?, known: KnownPeers, readCount: Int) {
      self.version = version
      self.known = known
      self.readCount = readCount
    }
  }

  /// Changes the file as it is now, including what another process has written meanwhile, and writes it: the change is
  /// on the disk when this returns. The former content is kept beside the file.
  /// - Parameter act: one or several acts of `KnownPeers`; nothing is written if it throws or changes nothing.
  /// - Returns: the present table.
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

  /// Rewrites a file of an older version, since that version can't tell that its end is missing.
  public func renewOld() throws(StateFailure) {
    guard try file.read() != nil, try load().isOld else { return }
    try locked { () throws(StateFailure) in
      let known = try load()
      if known.isOld { try file.replace(known.text, keepingFormer: true) }
    }
  }

  /// Runs `body` under the lock. The lock has its own file, since the file itself is replaced each time.
  private func locked<Value>(_ body: () throws(StateFailure) -> Value) throws(StateFailure) -> Value {
    try directory.prepare()
    let lock = try StateLock(directory.file(".known-peers.lock"), within: lockTime)
    defer { lock.release() }
    return try body()
  }
}
