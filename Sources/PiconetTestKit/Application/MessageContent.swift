import PiconetWire

/// Bytes of messages and files that show where they belong, so that any mix-up is noticed.
enum MessageContent {
  /// The length of a header. A shorter message has none: it is identified by its position in the order and its size.
  static let headerCount = 20

  struct Header: Equatable {
    var from: Int
    var to: Int
    var channel: MessageChannel
    /// The number of the connection between sender and receiver during which it was sent.
    var epoch: Int
    var isReliable: Bool
    var number: Int
    var size: Int
  }

  static func bytes(_ header: Header) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(header.size)
    if header.size >= headerCount {
      bytes.append(UInt8(truncatingIfNeeded: header.from))
      bytes.append(UInt8(truncatingIfNeeded: header.to))
      bytes.append(header.isReliable ? 1 : 2)
      bytes.append(0x80 | header.channel.number)
      for word in [header.epoch, header.number, header.size, header.epoch ^ header.number ^ header.size ^ 0x5A5A] {
        for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
      }
    }
    let start = (header.number &* 7919 &+ header.epoch &* 131) & 0xFFFF
    bytes.append(contentsOf: pool[start..<(start + header.size - bytes.count)])
    return bytes
  }

  static func header(of bytes: Bytes) -> Header? {
    guard bytes.count >= headerCount else { return nil }
    let fields = Array(bytes.prefix(headerCount))
    func word(_ at: Int) -> Int { fields[at..<(at + 4)].reduce(0) { $0 << 8 | Int($1) } }
    guard fields[3] & 0xC0 == 0x80, let channel = MessageChannel(Int(fields[3] & 0x3F)) else { return nil }
    return Header(
      from: Int(fields[0]), to: Int(fields[1]), channel: channel, epoch: word(4), isReliable: fields[2] == 1,
      number: word(8),
      size: word(12))
  }

  /// Returns the bytes of a file, different for each number.
  static func fileBytes(_ number: Int, size: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(size)
    var part = number &* 977
    while bytes.count < size {
      let start = (part &* 7919) & 0xFFFF
      let count = min(size - bytes.count, 4_001 + part & 0xFF)
      bytes.append(contentsOf: pool[start..<(start + count)])
      part += 1
    }
    return bytes
  }

  /// Returns bytes of a stream. They are the same at each offset, however they are cut into pieces.
  static func streamBytes(_ number: Int, from offset: Int, count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count {
      let start = (number &* 7919 &+ offset + bytes.count) & 0xFFFF
      bytes.append(contentsOf: pool[start..<(start + min(count - bytes.count, 0x10000 - start))])
    }
    return bytes
  }

  /// Random bytes, longer than any offset into them and any message together.
  private static let pool: [UInt8] = {
    var dice = Dice(seed: 1)
    return dice.bytes(1 << 18)
  }()
}
