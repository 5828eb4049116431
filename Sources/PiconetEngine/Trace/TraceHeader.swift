import PiconetWire

/// The inputs that an engine was made from. With them, the same facts give the same effects.
public struct TraceHeader: Sendable, Hashable {
  /// The version of the format that is written. It grows with every change of a trace's content.
  public static let version: UInt64 = 24
  /// The first bytes of every trace.
  static let mark = Array("piconet trace\n".utf8)

  public var identity: LocalIdentity
  public var configuration: EngineConfiguration
  public var seed: UInt64
  /// Whether contents of messages and files were replaced by zeros.
  public var isRedacted: Bool

  public init(identity: LocalIdentity, configuration: EngineConfiguration, seed: UInt64, isRedacted: Bool = false) {
    self.identity = identity
    self.configuration = configuration
    self.seed = seed
    self.isRedacted = isRedacted
  }
}

extension TraceHeader: TraceCoded {
  func write(to bytes: inout TraceBytes) { bytes(isRedacted, identity.node, seed, configuration) }

  static func read(from reader: inout TraceReader) throws(TraceError) -> TraceHeader {
    let (isRedacted, node, seed): (Bool, NodeID, UInt64) = (try reader(), try reader(), try reader())
    let configuration: EngineConfiguration = try reader()
    do throws(InvalidConfiguration) {
      try configuration.validate()
    } catch {
      throw TraceError.malformed("its settings are none that an engine has: \(error)")
    }
    return TraceHeader(
      identity: LocalIdentity(node: node), configuration: configuration, seed: seed, isRedacted: isRedacted)
  }
}
