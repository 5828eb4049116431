/// Data of an extended inquiry response or of an LE advertisement: structures of length, type and data (Core 5.4, Vol 3
/// Part C 8 and 11; the types are in the Core Specification Supplement, Part A).
public struct AdvertisingData: Sendable, Hashable {
  /// One structure.
  public struct Structure: Sendable, Hashable {
    public var type: UInt8
    public var data: [UInt8]

    public init(type: UInt8, data: [UInt8]) {
      self.type = type
      self.data = data
    }
  }

  /// The types that Piconet uses.
  public enum Kind {
    public static let flags: UInt8 = 0x01
    public static let someUUIDs16: UInt8 = 0x02
    public static let allUUIDs16: UInt8 = 0x03
    public static let someUUIDs32: UInt8 = 0x04
    public static let allUUIDs32: UInt8 = 0x05
    public static let someUUIDs128: UInt8 = 0x06
    public static let allUUIDs128: UInt8 = 0x07
    public static let shortName: UInt8 = 0x08
    public static let name: UInt8 = 0x09
    public static let serviceData128: UInt8 = 0x21
  }

  /// How many bytes each of the carriers takes.
  public enum Capacity {
    public static let inquiryResponse = 240
    public static let advertisement = 31
    public static let extendedAdvertisement = 1650
  }

  /// Why bytes are not such data, or data does not fit.
  public enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
    case tooLong(Int, limit: Int)
    /// A structure claims more bytes than the data has.
    case truncated(at: Int)
    /// Data of more than 254 bytes in one structure.
    case structureTooLong(type: UInt8)

    public var description: String {
      switch self {
      case .tooLong(let count, let limit): "\(count) bytes, above \(limit)"
      case .truncated(let offset): "the structure at \(offset) is cut off"
      case .structureTooLong(let type): "the structure of type \(type) has more than 254 bytes"
      }
    }
  }

  public var structures: [Structure]

  public init(_ structures: [Structure] = []) { self.structures = structures }

  /// Reads bytes of any sender. A length of 0 ends the data early; what follows is ignored.
  public init(decoding bytes: [UInt8], limit: Int = Capacity.extendedAdvertisement) throws(Failure) {
    guard bytes.count <= limit else { throw .tooLong(bytes.count, limit: limit) }
    self.init()
    var offset = 0
    while offset < bytes.count {
      let length = Int(bytes[offset])
      if length == 0 { return }
      guard offset + 1 + length <= bytes.count else { throw .truncated(at: offset) }
      structures.append(
        Structure(type: bytes[offset + 1], data: Array(bytes[(offset + 2)..<(offset + 1 + length)])))
      offset += 1 + length
    }
  }

  /// The bytes, without padding.
  public func encoded(limit: Int) throws(Failure) -> [UInt8] {
    var bytes: [UInt8] = []
    for structure in structures {
      guard structure.data.count <= 254 else { throw .structureTooLong(type: structure.type) }
      bytes += [UInt8(structure.data.count + 1), structure.type] + structure.data
    }
    guard bytes.count <= limit else { throw .tooLong(bytes.count, limit: limit) }
    return bytes
  }

  /// LE's flags; nil if the data has none.
  public var flags: UInt8? { structures.first { $0.type == Kind.flags }?.data.first }

  /// All service UUIDs, in their order. Bytes after a list's last whole UUID are ignored.
  public var services: [BluetoothUUID] {
    structures.flatMap { structure -> [BluetoothUUID] in
      switch structure.type {
      case Kind.someUUIDs16, Kind.allUUIDs16: Self.uuids(structure.data, of: 2)
      case Kind.someUUIDs32, Kind.allUUIDs32: Self.uuids(structure.data, of: 4)
      case Kind.someUUIDs128, Kind.allUUIDs128: Self.uuids(structure.data, of: 16)
      default: []
      }
    }
  }

  /// The device's name in full or, failing that, its beginning; nil without one or if it is not UTF-8. Its characters
  /// are not checked.
  public var name: String? {
    let structure =
      structures.first { $0.type == Kind.name } ?? structures.first { $0.type == Kind.shortName }
    return structure.flatMap { String(validating: $0.data, as: UTF8.self) }
  }

  /// The data for a service with a 128-bit UUID.
  public func serviceData(of service: BluetoothUUID) -> [UInt8]? {
    let key = Array(service.bytes.reversed())
    return structures.first { $0.type == Kind.serviceData128 && $0.data.starts(with: key) }
      .map { Array($0.data.dropFirst(16)) }
  }

  /// A list of all services with 128-bit UUIDs; they are little-endian here.
  public static func services128(_ services: [BluetoothUUID]) -> Structure {
    Structure(type: Kind.allUUIDs128, data: services.flatMap { $0.bytes.reversed() })
  }

  /// The name, as a shortened one if it has to be cut to `limit` bytes of UTF-8.
  public static func name(_ name: String, limit: Int) -> Structure {
    if name.utf8.count <= limit { return Structure(type: Kind.name, data: Array(name.utf8)) }
    var cut = ""
    for character in name {
      if cut.utf8.count + character.utf8.count > limit { break }
      cut.append(character)
    }
    return Structure(type: Kind.shortName, data: Array(cut.utf8))
  }

  /// Data of a service.
  public static func serviceData(_ data: [UInt8], of service: BluetoothUUID) -> Structure {
    Structure(type: Kind.serviceData128, data: service.bytes.reversed() + data)
  }

  private static func uuids(_ data: [UInt8], of size: Int) -> [BluetoothUUID] {
    stride(from: 0, through: data.count - size, by: size).compactMap { offset in
      let digits = data[offset..<offset + size].reversed()
      if size == 16 { return BluetoothUUID(bytes: Array(digits)) }
      return BluetoothUUID(short: digits.reduce(0) { $0 << 8 | UInt32($1) })
    }
  }
}
