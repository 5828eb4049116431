extension DNSMessage {
  /// The bytes, with names compressed; nil if they would be more than `limit`.
  public func encoded(limit: Int = MulticastDNS.largestMessage) -> [UInt8]? {
    var writer = MessageWriter()
    for word in [identifier, flags] { writer.word(word) }
    for count in [questions.count, answers.count, authorities.count, additionals.count] {
      guard let word = UInt16(exactly: count) else { return nil }
      writer.word(word)
    }
    for question in questions { writer.question(question) }
    for record in answers + authorities + additionals {
      guard writer.record(record), writer.bytes.count <= limit else { return nil }
    }
    return writer.bytes.count <= min(limit, MulticastDNS.largestMessage) ? writer.bytes : nil
  }
}

/// Writes a message from its beginning, and remembers where each name stands.
struct MessageWriter {
  private(set) var bytes: [UInt8] = []
  /// Where a name, or the rest of one, was written, in lower case: RFC 1035 compares names without case. The first
  /// one's case stays.
  private var offsets: [[UInt8]: UInt16] = [:]

  mutating func word(_ value: UInt16) {
    bytes.append(UInt8(truncatingIfNeeded: value >> 8))
    bytes.append(UInt8(truncatingIfNeeded: value))
  }

  mutating func name(_ name: DomainName) {
    var index = 0
    while index < name.wire.count {
      let rest = Array(name.folded[index...])
      if let offset = offsets[rest] {
        word(0xC000 | offset)
        return
      }
      if bytes.count < 0x4000 { offsets[rest] = UInt16(bytes.count) }
      let end = index + 1 + Int(name.wire[index])
      bytes += name.wire[index..<end]
      index = end
    }
    bytes.append(0)
  }

  mutating func question(_ question: Question) {
    name(question.name)
    word(question.type.rawValue)
    word(question.questionClass & 0x7FFF | (question.wantsUnicast ? 0x8000 : 0))
  }

  /// False if the data can't be written: a string over 255 bytes or more data than a length field holds.
  mutating func record(_ record: ResourceRecord) -> Bool {
    name(record.name)
    word(record.type.rawValue)
    word(record.type == .opt ? record.recordClass : record.recordClass & 0x7FFF | (record.cacheFlush ? 0x8000 : 0))
    word(UInt16(truncatingIfNeeded: record.timeToLive >> 16))
    word(UInt16(truncatingIfNeeded: record.timeToLive))
    let lengthAt = bytes.count
    word(0)
    guard data(record.data), let length = UInt16(exactly: bytes.count - lengthAt - 2) else { return false }
    bytes[lengthAt] = UInt8(length >> 8)
    bytes[lengthAt + 1] = UInt8(length & 0xFF)
    return true
  }

  private mutating func data(_ data: RecordData) -> Bool {
    switch data {
    case .address(let address): bytes += address.bytes
    case .pointer(let target): name(target)
    case .service(let priority, let weight, let port, let target):
      for value in [priority, weight, port] { word(value) }
      // RFC 6762, section 18.14: the target may be compressed in Multicast DNS.
      name(target)
    case .text(let strings):
      for string in strings {
        guard let length = UInt8(exactly: string.count) else { return false }
        bytes.append(length)
        bytes += string
      }
      // RFC 6763, section 6.1: an empty TXT record has one empty string.
      if strings.isEmpty { bytes.append(0) }
    case .nextSecure(let next, let types):
      name(next)
      var windows: [UInt16: [UInt8]] = [:]
      for type in types {
        let index = Int(type.rawValue & 0xFF) / 8
        var bits = windows[type.rawValue >> 8] ?? []
        if bits.count <= index { bits += [UInt8](repeating: 0, count: index + 1 - bits.count) }
        bits[index] |= 0x80 >> UInt8(type.rawValue & 7)
        windows[type.rawValue >> 8] = bits
      }
      for (window, bits) in windows.sorted(by: { $0.key < $1.key }) {
        bytes.append(UInt8(window))
        bytes.append(UInt8(bits.count))
        bytes += bits
      }
    case .raw(let raw): bytes += raw
    }
    return true
  }
}

extension RecordData {
  /// The data with names written out, which RFC 6762, section 8.2, compares in a tie-break.
  var canonicalBytes: [UInt8] {
    switch self {
    case .address(let address): return address.bytes
    case .pointer(let name): return name.wire + [0]
    case .service(let priority, let weight, let port, let target):
      return [priority, weight, port].flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } + target.wire + [0]
    case .text(let strings):
      return strings.isEmpty ? [0] : strings.flatMap { [UInt8(truncatingIfNeeded: $0.count)] + $0 }
    case .nextSecure(let name, let types):
      return name.wire + [0] + types.flatMap { [UInt8($0.rawValue >> 8), UInt8($0.rawValue & 0xFF)] }
    case .raw(let bytes): return bytes
    }
  }
}
