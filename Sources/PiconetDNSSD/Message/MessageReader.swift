extension DNSMessage {
  /// Reads a message. Bytes after the last record are ignored, as RFC 6762 does not forbid them.
  public init(decoding bytes: [UInt8]) throws(MessageFailure) {
    guard bytes.count <= MulticastDNS.largestMessage else { throw .tooLong }
    var reader = MessageReader(bytes: bytes)
    self.init()
    identifier = try reader.word()
    flags = try reader.word()
    let counts = (Int(try reader.word()), Int(try reader.word()), Int(try reader.word()), Int(try reader.word()))
    guard counts.0 + counts.1 + counts.2 + counts.3 <= MulticastDNS.recordsPerMessage else { throw .tooManyRecords }
    for _ in 0..<counts.0 { questions.append(try reader.question()) }
    for _ in 0..<counts.1 { answers.append(try reader.record()) }
    for _ in 0..<counts.2 { authorities.append(try reader.record()) }
    for _ in 0..<counts.3 { additionals.append(try reader.record()) }
  }
}

/// Reads a message from its beginning; every step is checked against the end.
struct MessageReader {
  private let bytes: [UInt8]
  private var position = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  mutating func byte() throws(MessageFailure) -> UInt8 {
    guard position < bytes.count else { throw .truncated }
    position += 1
    return bytes[position - 1]
  }

  mutating func word() throws(MessageFailure) -> UInt16 {
    let high = try byte()
    return UInt16(high) << 8 | UInt16(try byte())
  }

  mutating func take(_ count: Int) throws(MessageFailure) -> [UInt8] {
    guard count <= bytes.count - position else { throw .truncated }
    position += count
    return Array(bytes[position - count..<position])
  }

  /// A name, compressed or not. A pointer must lead to a place before the name (or the part that it continues) began,
  /// so there can be no loop; the number of pointers bounds the work.
  mutating func name() throws(MessageFailure) -> DomainName {
    var wire: [UInt8] = []
    var cursor = position
    var earliest = position
    var pointers = 0
    while true {
      guard cursor < bytes.count else { throw .truncated }
      let length = Int(bytes[cursor])
      switch length >> 6 {
      case 0:
        if length == 0 {
          if pointers == 0 { position = cursor + 1 }
          return DomainName(checkedWire: wire)
        }
        guard cursor + 1 + length <= bytes.count else { throw .truncated }
        guard wire.count + 1 + length < MulticastDNS.nameLength else { throw .nameTooLong }
        wire += bytes[cursor...cursor + length]
        cursor += 1 + length
      case 3:
        guard cursor + 1 < bytes.count else { throw .truncated }
        let target = (length & 0x3F) << 8 | Int(bytes[cursor + 1])
        if pointers == 0 { position = cursor + 2 }
        pointers += 1
        guard target < earliest, pointers <= MulticastDNS.pointersPerName else { throw .badPointer }
        cursor = target
        earliest = target
      default: throw .badLabel
      }
    }
  }

  mutating func question() throws(MessageFailure) -> Question {
    let name = try name()
    let type = RecordType(rawValue: try word())
    let classWord = try word()
    return Question(name: name, type: type, questionClass: classWord & 0x7FFF, wantsUnicast: classWord & 0x8000 != 0)
  }

  mutating func record() throws(MessageFailure) -> ResourceRecord {
    let name = try name()
    let type = RecordType(rawValue: try word())
    let classWord = try word()
    let timeToLive = UInt32(try word()) << 16 | UInt32(try word())
    let length = Int(try word())
    guard length <= bytes.count - position else { throw .truncated }
    let end = position + length
    let data = try data(of: type, end: end)
    guard position == end else { throw .badRecordData }
    // In OPT the class word is a payload size and has no flush bit (RFC 6891, section 6.1.2).
    let isOption = type == .opt
    return ResourceRecord(
      name: name, type: type, recordClass: isOption ? classWord : classWord & 0x7FFF,
      cacheFlush: !isOption && classWord & 0x8000 != 0, timeToLive: timeToLive, data: data)
  }

  private mutating func data(of type: RecordType, end: Int) throws(MessageFailure) -> RecordData {
    switch type {
    case .a, .aaaa:
      guard end - position == (type == .a ? 4 : 16), let address = IPAddress(bytes: try take(end - position)) else {
        throw .badRecordData
      }
      return .address(address)
    case .ptr: return .pointer(try name())
    case .srv:
      let (priority, weight, port) = (try word(), try word(), try word())
      return .service(priority: priority, weight: weight, port: port, target: try name())
    case .txt:
      var strings: [[UInt8]] = []
      while position < end {
        let length = Int(try byte())
        guard length <= end - position else { throw .badRecordData }
        strings.append(try take(length))
      }
      return .text(strings)
    case .nsec: return try nextSecure(end: end)
    default: return .raw(try take(end - position))
    }
  }

  /// RFC 4034, section 4.1: the next name, then windows of bits.
  private mutating func nextSecure(end: Int) throws(MessageFailure) -> RecordData {
    let next = try name()
    var types: [RecordType] = []
    while position < end {
      let window = UInt16(try byte())
      let length = Int(try byte())
      guard (1...32).contains(length), length <= end - position else { throw .badRecordData }
      for index in 0..<UInt16(length) {
        let bits = try byte()
        for bit in UInt16(0)..<8 where bits & (0x80 >> bit) != 0 {
          types.append(RecordType(rawValue: window << 8 | index << 3 | bit))
        }
      }
    }
    return .nextSecure(next, types: types)
  }
}
