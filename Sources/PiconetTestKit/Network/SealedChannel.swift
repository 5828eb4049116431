/// A replacement for TLS inside a tunnel. A node that passes its bytes on sees their number and their times. If such a
/// node changes, leaves out, repeats, swaps or adds bytes, the next record shows it, and the channel is broken.
///
/// Both sides greet with their identity and a nonce. The key follows from both greetings and from a secret that only
/// the two ends of a channel know, as with certificates and a key exchange. Each side then proves with a record that it
/// has the same key. The digest is weak: tampering nodes in this world don't compute.
struct SealedChannel {
  enum State: Equatable {
    case handshaking
    /// The node at the other end is proven.
    case secured(Int)
    /// The other side has closed in good order.
    case ended
    case broken
  }

  private enum RecordType: UInt8 { case greeting, finished, data, close }

  /// The type and length before the content of a record, and a tag after it.
  private static let headerCount = 3
  private static let tagCount = 8
  private static let nonceCount = 8
  /// The largest content that a driver seals at once on a path that is slow, or that it has not measured.
  private static let longestContent = 4_096

  private(set) var state = State.handshaking
  private let isDialler: Bool
  private let secret: UInt64
  private let greeting: [UInt8]
  /// Whether no record is checked, as a planted fault.
  private let isBlind: Bool
  private var remote: Int?
  private(set) var key: [UInt8] = []
  private var input: [UInt8] = []
  private var output: [UInt8] = []
  private var sealedCount: UInt64 = 0
  private var openedCount: UInt64 = 0
  /// Records that have not been sent: their bytes, and how many bytes of the link they represent.
  private var waiting: [(count: Int, content: Int)] = []

  init(of node: Int, isDialler: Bool, secret: UInt64, nonce: [UInt8], isBlind: Bool) {
    self.isDialler = isDialler
    self.secret = secret
    self.isBlind = isBlind
    greeting = [UInt8(node)] + nonce
    append(.greeting, greeting[...], standingFor: 0)
  }

  static func nonce(_ dice: inout Dice) -> [UInt8] { dice.bytes(nonceCount) }

  // MARK: Sending

  /// Takes the bytes that are to be written.
  mutating func takeOutput() -> [UInt8] {
    defer { output = [] }
    return output
  }

  /// - Parameter count: how many bytes of the link count as sent with these, if a relay has changed them before.
  mutating func seal(_ bytes: ArraySlice<UInt8>, standingFor count: Int) {
    var rest = bytes
    while rest.count > Self.longestContent {
      append(.data, rest.prefix(Self.longestContent), standingFor: 0)
      rest = rest.dropFirst(Self.longestContent)
    }
    append(.data, rest, standingFor: count)
  }

  mutating func close() { append(.close, [], standingFor: 0) }

  /// Notes that this many bytes of the output have been sent.
  /// - Returns: how many bytes of the link they were.
  mutating func sent(_ count: Int) -> Int {
    var left = count
    var content = 0
    while left > 0, !waiting.isEmpty {
      let part = min(left, waiting[0].count)
      left -= part
      waiting[0].count -= part
      guard waiting[0].count == 0 else { break }
      content += waiting.removeFirst().content
    }
    return content
  }

  private mutating func append(_ type: RecordType, _ content: ArraySlice<UInt8>, standingFor count: Int) {
    let start = output.count
    output += [type.rawValue, UInt8(content.count >> 8), UInt8(content.count & 0xFF)]
    if type == .greeting {
      output += content
      output += [UInt8](repeating: 0, count: Self.tagCount)
    } else {
      output += hidden(content, sealedCount)
      output += tag(type, content, number: sealedCount, byDialler: isDialler)
      sealedCount += 1
    }
    waiting.append((output.count - start, count))
  }

  // MARK: Receiving

  /// Takes bytes that have come.
  /// - Returns: the bytes of the link.
  mutating func open(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    input += bytes
    var opened: [UInt8] = []
    var start = 0
    while state != .ended, state != .broken, input.count - start >= Self.headerCount {
      let count = Int(input[start + 1]) << 8 | Int(input[start + 2])
      guard let type = RecordType(rawValue: input[start]), count <= Self.longestContent else {
        state = .broken
        break
      }
      let end = start + Self.headerCount + count
      guard input.count >= end + Self.tagCount else { break }
      take(type, input[(start + Self.headerCount)..<end], input[end..<(end + Self.tagCount)], &opened)
      start = end + Self.tagCount
    }
    input.removeFirst(start)
    return opened
  }

  private mutating func take(
    _ type: RecordType, _ content: ArraySlice<UInt8>, _ tag: ArraySlice<UInt8>, _ opened: inout [UInt8]
  ) {
    if type == .greeting { return greeted(Array(content)) }
    let plain = hidden(content, openedCount)
    let isGenuine =
      !key.isEmpty && tag.elementsEqual(self.tag(type, plain[...], number: openedCount, byDialler: !isDialler))
    guard isGenuine || isBlind else { return state = .broken }
    openedCount += 1
    switch (type, state) {
    case (.finished, .handshaking): state = remote.map { .secured($0) } ?? .broken
    case (.data, .secured): opened += plain
    case (.close, .secured): state = .ended
    default: state = .broken
    }
  }

  private mutating func greeted(_ other: [UInt8]) {
    guard remote == nil, let node = other.first, other.count == greeting.count else { return state = .broken }
    remote = Int(node)
    let (first, second) = isDialler ? (greeting, other) : (other, greeting)
    key = Array(CheapDigest.of(first + second + Self.bytes(secret)).prefix(Self.tagCount))
    append(.finished, [], standingFor: 0)
  }

  // MARK: Records

  /// Returns the content in a hidden form, so that no byte of a record is visible. A second call reverses the first.
  private func hidden(_ content: ArraySlice<UInt8>, _ number: UInt64) -> [UInt8] {
    guard !key.isEmpty else { return Array(content) }
    let turn = UInt8(truncatingIfNeeded: number)
    var hidden = Array(content)
    for place in hidden.indices { hidden[place] ^= key[place % Self.tagCount] ^ turn }
    return hidden
  }

  private func tag(_ type: RecordType, _ content: ArraySlice<UInt8>, number: UInt64, byDialler: Bool) -> [UInt8] {
    let place = Self.bytes(number) + [byDialler ? 1 : 0, type.rawValue]
    return Array(CheapDigest.of(key + place + content).prefix(Self.tagCount))
  }

  private static func bytes(_ word: UInt64) -> [UInt8] {
    [0, 8, 16, 24, 32, 40, 48, 56].map { (shift: UInt64) in UInt8(truncatingIfNeeded: word >> shift) }
  }
}
