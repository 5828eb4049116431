/// Writes data items in the preferred serialization of RFC 8949, 4.1: definite lengths, and the shortest form of each
/// number.
public struct CBORWriter: Sendable {
  public private(set) var bytes: [UInt8] = []

  public init(reserving capacity: Int = 0) {
    if capacity > 0 { bytes.reserveCapacity(capacity) }
  }

  /// Writes the first bytes of an item: its major type and its argument.
  @inline(__always)
  mutating func head(_ major: UInt8, _ argument: UInt64) {
    let kind = major << 5
    if argument < 24 {
      bytes.append(kind | UInt8(argument))
    } else if argument <= 0xFF {
      bytes.append(kind | 24)
      bytes.append(UInt8(argument))
    } else if argument <= 0xFFFF {
      bytes.append(kind | 25)
      big(argument, 2)
    } else if argument <= 0xFFFF_FFFF {
      bytes.append(kind | 26)
      big(argument, 4)
    } else {
      bytes.append(kind | 27)
      big(argument, 8)
    }
  }

  private mutating func big(_ value: UInt64, _ count: Int) {
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0[(8 - count)...]) }
  }

  public mutating func unsigned(_ value: UInt64) { head(0, value) }

  public mutating func integer(_ value: Int64) {
    if value < 0 { head(1, UInt64(~value)) } else { head(0, UInt64(value)) }
  }

  public mutating func text(_ value: String) {
    var value = value
    value.withUTF8 { utf8 in
      head(3, UInt64(utf8.count))
      bytes.append(contentsOf: utf8)
    }
  }

  public mutating func byteString(_ value: some Collection<UInt8>) {
    head(2, UInt64(value.count))
    bytes.append(contentsOf: value)
  }

  /// Begins an array: this many items follow.
  public mutating func array(_ count: Int) { head(4, UInt64(count)) }

  /// Begins a map: this many pairs of a key and a value follow.
  public mutating func map(_ count: Int) { head(5, UInt64(count)) }

  public mutating func bool(_ value: Bool) { bytes.append(value ? 0xF5 : 0xF4) }

  public mutating func null() { bytes.append(0xF6) }

  public mutating func float(_ value: Double) {
    let single = Float(value)
    guard Double(single) == value || value.isNaN else {
      bytes.append(0xFB)
      return big(value.bitPattern, 8)
    }
    if let half = CBORHalf.bits(of: single) {
      bytes.append(0xF9)
      big(UInt64(half), 2)
    } else {
      bytes.append(0xFA)
      big(UInt64(single.bitPattern), 4)
    }
  }

  public mutating func value(_ value: CBORValue) {
    switch value {
    case .unsigned(let number): head(0, number)
    case .negative(let number): head(1, number)
    case .bytes(let content): byteString(content)
    case .text(let content): text(content)
    case .array(let elements):
      array(elements.count)
      for element in elements { self.value(element) }
    case .map(let entries):
      map(entries.count)
      for entry in entries {
        self.value(entry.key)
        self.value(entry.value)
      }
    case .tagged(let tag, let content):
      head(6, tag)
      self.value(content)
    case .simple(let number):
      // 24 to 31 are not simple values: their one-byte form would be another item's.
      if number < 24 { bytes.append(0xE0 | number) } else { bytes += [0xF8, max(number, 32)] }
    case .float(let number): float(number)
    }
  }

  /// Appends items that are encoded already.
  public mutating func encoded(_ items: [UInt8]) { bytes.append(contentsOf: items) }

  /// Appends items that are encoded already.
  public mutating func encoded(_ items: ArraySlice<UInt8>) { bytes.append(contentsOf: items) }
}

extension CBORValue {
  /// The written bytes.
  public var encoded: [UInt8] {
    var writer = CBORWriter()
    writer.value(self)
    return writer.bytes
  }
}
