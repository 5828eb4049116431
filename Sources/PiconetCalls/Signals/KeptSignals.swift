/// The latest value of each signal that is kept for members that come later: those that one node has set, or those
/// received from one member.
public struct KeptSignals: Sendable {
  /// The key of one signal of one object.
  public struct Key: Hashable, Comparable, Sendable {
    public var path: String
    public var interface: String
    public var name: String

    public init(path: String, interface: String, name: String) {
      self.path = path
      self.interface = interface
      self.name = name
    }

    public static func < (left: Key, right: Key) -> Bool {
      (left.path, left.interface, left.name) < (right.path, right.interface, right.name)
    }
  }

  private var values: [Key: [UInt8]] = [:]
  private var bytes = 0

  /// The most signals that are kept of one node.
  public static let countLimit = 256
  /// The most bytes of all their values.
  public static let byteLimit = 1_048_576

  public init() {}

  public subscript(key: Key) -> [UInt8]? { values[key] }

  public var keys: [Key] { values.keys.sorted() }

  /// Keeps a value, replacing the previous one.
  /// - Parameter value: one item.
  /// - Returns: false if there is no room: nothing is then kept of this signal, not even the old value.
  public mutating func keep(_ value: some Collection<UInt8>, for key: Key) -> Bool {
    remove(key)
    guard values.count < Self.countLimit, bytes + value.count <= Self.byteLimit else { return false }
    values[key] = Array(value)
    bytes += value.count
    return true
  }

  public mutating func remove(_ key: Key) {
    if let former = values.removeValue(forKey: key) { bytes -= former.count }
  }
}

/// The kept signals that a member has not been told of yet. Values that are set meanwhile replace earlier ones. So a
/// member that takes them late gets the latest, and never more wait for it than there are signals.
public struct UnreportedSignals: Sendable {
  private var keys: [KeptSignals.Key] = []
  private var known: Set<KeptSignals.Key> = []

  public init() {}

  public var isEmpty: Bool { keys.isEmpty }

  public mutating func add(_ key: KeptSignals.Key) {
    if known.insert(key).inserted { keys.append(key) }
  }

  /// Returns the next signal, in the order in which they were added.
  public mutating func next() -> KeptSignals.Key? {
    guard !keys.isEmpty else { return nil }
    let key = keys.removeFirst()
    known.remove(key)
    return key
  }
}
