/// A data item of CBOR (RFC 8949).
public indirect enum CBORValue: Hashable, Sendable {
  /// Major type 0.
  case unsigned(UInt64)
  /// Major type 1: -1 minus this.
  case negative(UInt64)
  /// Major type 2.
  case bytes([UInt8])
  /// Major type 3.
  case text(String)
  /// Major type 4.
  case array([CBORValue])
  /// Major type 5, in the order in which it was written. No key occurs twice.
  case map([Entry])
  /// Major type 6.
  case tagged(UInt64, CBORValue)
  /// Major type 7 without the floating-point numbers: 20 is false, 21 true, 22 null, 23 undefined.
  case simple(UInt8)
  /// Major type 7: 16, 32 or 64 bits, the shortest form that holds the number exactly.
  case float(Double)

  /// A key of a map and its value.
  public struct Entry: Hashable, Sendable {
    public var key: CBORValue
    public var value: CBORValue

    public init(_ key: CBORValue, _ value: CBORValue) {
      self.key = key
      self.value = value
    }
  }

  public static let null = CBORValue.simple(22)

  public static func bool(_ value: Bool) -> CBORValue { .simple(value ? 21 : 20) }

  public static func integer(_ value: some FixedWidthInteger & SignedInteger) -> CBORValue {
    value < 0 ? .negative(UInt64(~value)) : .unsigned(UInt64(value))
  }

  /// The item's kind, in a word for a message.
  public var kind: String {
    switch self {
    case .unsigned, .negative: "an integer"
    case .bytes: "bytes"
    case .text: "text"
    case .array: "an array"
    case .map: "a map"
    case .tagged: "a tagged value"
    case .simple(20), .simple(21): "a truth value"
    case .simple(22), .simple(23): "nothing"
    case .simple: "a simple value"
    case .float: "a floating-point number"
    }
  }
}
