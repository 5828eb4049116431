import PiconetEngine
import PiconetWire

/// The truth about every stream that an honest node has opened: from whom to whom, what was written, how far it was
/// read.
struct StreamTruths {
  struct Truth {
    let from: NodeID
    let to: NodeID
    /// Bytes handed to the engine.
    var written = 0
    /// Its size, once the writer has ended it.
    var size: Int?
    /// The receiving engine's name for it.
    var incoming: StreamID?
    /// Bytes that the receiver's application was given, and how many of them it has read.
    var delivered = 0
    var read = 0
    var isEnded = false
  }

  private(set) var truths: [Truth] = []

  mutating func open(from: NodeID, to: NodeID) -> Int {
    truths.append(Truth(from: from, to: to))
    return truths.count - 1
  }

  static func name(_ number: Int) -> String { "stream \(number)" }

  /// The number of a stream that one node has opened to another.
  func number(of name: String, from: NodeID, to: NodeID) -> Int? {
    guard let number = name.split(separator: " ").last.flatMap({ Int($0) }), truths.indices.contains(number),
      Self.name(number) == name, truths[number].from == from, truths[number].to == to
    else { return nil }
    return number
  }

  /// The next bytes of a stream.
  mutating func write(_ number: Int, count: Int) -> Bytes {
    defer { truths[number].written += count }
    return MessageContent.streamBytes(number, from: truths[number].written, count: count)[...]
  }

  mutating func finish(_ number: Int) { truths[number].size = truths[number].written }

  /// What is wrong with a stream that comes in, or nil.
  mutating func opened(_ number: Int, as id: StreamID) -> String? {
    if truths[number].incoming != nil { return "stream \(number) is opened twice" }
    truths[number].incoming = id
    return nil
  }

  /// What is wrong with bytes that were delivered, or nil: what a reader gets is always a prefix of what was written.
  mutating func came(_ bytes: Bytes, of number: Int) -> String? {
    let truth = truths[number]
    if truth.isEnded { return "stream \(number) goes on after its end" }
    guard truth.delivered + bytes.count <= truth.written else { return "stream \(number) has more than was written" }
    guard
      ByteComparison.areEqual(
        bytes, MessageContent.streamBytes(number, from: truth.delivered, count: bytes.count)[...])
    else { return "stream \(number) has other bytes at \(truth.delivered) than were written" }
    truths[number].delivered += bytes.count
    return nil
  }

  /// What is wrong with a clean end, or nil: all was delivered.
  mutating func ended(_ number: Int) -> String? {
    truths[number].isEnded = true
    let truth = truths[number]
    guard let size = truth.size else { return "stream \(number) ends, and its writer has not ended it" }
    return truth.delivered == size ? nil : "stream \(number) ends after \(truth.delivered) of \(size) bytes"
  }

  mutating func read(_ number: Int, count: Int) { truths[number].read += count }

  /// What is wrong with telling a writer that all was read, or nil.
  func done(_ number: Int) -> String? {
    let truth = truths[number]
    guard truth.isEnded, truth.read == truth.size else {
      return "stream \(number) is told to be read to its end, and \(truth.read) bytes of it are"
    }
    return nil
  }
}
