import PiconetWire

/// One value of a service record (Core 5.4, Vol 3 Part B 3).
public indirect enum DataElement: Sendable, Hashable {
  /// The number of bytes of an integer.
  public enum Width: UInt8, Sendable, Hashable, CaseIterable {
    case one = 1
    case two = 2
    case four = 4
    case eight = 8
  }

  case null
  case unsigned(UInt64, Width)
  case signed(Int64, Width)
  /// An integer of 128 bits, big-endian: 16 bytes.
  case wide(isSigned: Bool, [UInt8])
  /// Written as short as the Bluetooth Base UUID allows.
  case uuid(BluetoothUUID)
  /// Text, or any other bytes.
  case text([UInt8])
  case boolean(Bool)
  case sequence([DataElement])
  /// Elements of which one is chosen.
  case alternative([DataElement])
  case url([UInt8])

  /// An 8-bit number.
  public static func uint8(_ value: UInt8) -> DataElement { .unsigned(UInt64(value), .one) }
  /// A 16-bit number.
  public static func uint16(_ value: UInt16) -> DataElement { .unsigned(UInt64(value), .two) }
  /// A 32-bit number.
  public static func uint32(_ value: UInt32) -> DataElement { .unsigned(UInt64(value), .four) }
  /// A 64-bit number.
  public static func uint64(_ value: UInt64) -> DataElement { .unsigned(value, .eight) }
}

/// The limits on a data element, which bound the cost of reading it.
public enum DataElementLimits {
  /// How deeply sequences may be nested; the outermost has depth 1.
  public static let depth = 8
  /// The size of the whole, in bytes.
  public static let bytes = 65536
  /// The number of all elements, including sequences.
  public static let elements = 1024
}

/// Why bytes are not a readable data element.
public enum DataElementFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// More bytes than `DataElementLimits.bytes`.
  case tooLong(Int)
  /// Deeper than `DataElementLimits.depth`.
  case tooDeep
  /// More than `DataElementLimits.elements`.
  case tooManyElements
  /// An element ends beyond the one that contains it.
  case truncated(at: Int)
  /// A type, or a size for that type, that does not exist.
  case badDescriptor(UInt8, at: Int)
  /// A boolean that is neither 0 nor 1.
  case badBoolean(at: Int)
  /// More bytes follow the element.
  case trailingBytes(Int)

  public var description: String {
    switch self {
    case .tooLong(let count): "\(count) bytes, above \(DataElementLimits.bytes)"
    case .tooDeep: "sequences nested deeper than \(DataElementLimits.depth)"
    case .tooManyElements: "more than \(DataElementLimits.elements) elements"
    case .truncated(let offset): "the element at \(offset) is cut off"
    case .badDescriptor(let byte, let offset): "no element starts with 0x\([byte].hexadecimal), at \(offset)"
    case .badBoolean(let offset): "the boolean at \(offset) is neither 0 nor 1"
    case .trailingBytes(let count): "\(count) bytes too many"
    }
  }
}
