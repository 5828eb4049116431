import PiconetEngine
import PiconetWire

/// The truth about every stream that an honest node has opened: sender, receiver, the bytes written, and the bytes
/// read.
struct StreamTruths {
  struct Truth {
    let from: NodeID
    let to: NodeID
    /// Bytes handed to the engine.
    var written = 0
    /// Its size, once the writer has ended it.
    var size: Int?
    /// The receiving engine's id for it.
    var incoming: StreamID?
    /// The number of bytes that the receiver's application was given, and how many of them it has read.
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

  /// Returns the number of a stream that one node has opened to another.
  func number(of name: String, from: NodeID, to: NodeID) -> Int? {
    guard let number = name.split(separator: " ").last.flatMap({ Int($0) }), truths.indices.contains(number),
      Self.name(number) == name, truths[number].from == from, truths[number].to == to
    else { return nil }
    return number
  }

  /// Returns the next bytes of a stream.
  mutating func write(_ number: Int, count: Int) -> Bytes {
    defer { truths[number].written += count }
    return MessageContent.streamBytes(number, from: truths[number].written, count: count)[...]
  }

  mutating func finish(_ number: Int) { truths[number].size = truths[number].written }

  /// Returns the fault of an incoming stream, or nil.
  mutating func opened(_ number: Int, as id: StreamID) -> String? {
    if truths[number].incoming != nil { return "stream \(number) is opened twice" }
    truths[number].incoming = id
    return nil
  }

  /// Returns the fault of delivered bytes, or nil: a reader always gets a prefix of the written bytes.
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

  /// Returns the fault of a clean end, or nil: all bytes must have been delivered.
  mutating func ended(_ number: Int) -> String? {
    truths[number].isEnded = true
    let truth = truths[number]
    guard let size = truth.size else { return "stream \(number) ends, and its writer has not ended it" }
    return truth.delivered == size ? nil : "stream \(number) ends after \(truth.delivered) of \(size) bytes"
  }

  mutating func read(_ number: Int, count: Int) { truths[number].read += count }

  /// Returns the fault of telling a writer that all bytes were read, or nil.
  func done(_ number: Int) -> String? {
    let truth = truths[number]
    guard truth.isEnded, truth.read == truth.size else {
      return "stream \(number) is told to be read to its end, and \(truth.read) bytes of it are"
    }
    return nil
  }
}
