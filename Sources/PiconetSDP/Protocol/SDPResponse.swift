/// An SDP server's answer (Core 5.4, Vol 3 Part B 4), limited to the parts that Piconet uses.
public enum SDPResponse: Sendable, Hashable {
  /// A part of the attribute lists; more parts follow if `continues`.
  case part(ArraySlice<UInt8>, continues: Bool)
  /// SDP_ErrorResponse.
  case refused(code: UInt16)

  /// Why a packet is not an answer.
  public enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
    case truncated
    /// The stated length of the parameters is not that of the packet.
    case badLength(said: Int, is: Int)
    /// An answer to another question.
    case wrongTransaction(UInt16)
    case badKind(UInt8)
    /// Longer than the 16 bytes that are allowed (4.3).
    case badContinuation(Int)

    public var description: String {
      switch self {
      case .truncated: "the answer is cut off"
      case .badLength(let said, let real): "the answer says \(said) bytes and has \(real)"
      case .wrongTransaction(let number): "the answer is one to transaction \(number)"
      case .badKind(let kind): "the answer is of kind \(kind)"
      case .badContinuation(let count): "a continuation state of \(count) bytes"
      }
    }
  }

  /// Reads one whole packet.
  /// - Parameter transaction: the transaction of the question.
  public init(decoding packet: [UInt8], transaction: UInt16) throws(Failure) {
    guard packet.count >= 5 else { throw .truncated }
    let number = { (offset: Int) in UInt16(packet[offset]) << 8 | UInt16(packet[offset + 1]) }
    let said = Int(number(3))
    guard said == packet.count - 5 else { throw .badLength(said: said, is: packet.count - 5) }
    guard number(1) == transaction else { throw .wrongTransaction(number(1)) }
    switch packet[0] {
    case 0x01:
      guard said >= 2 else { throw .truncated }
      self = .refused(code: number(5))
    case 0x07:
      guard said >= 3 else { throw .truncated }
      let count = Int(number(5))
      guard 7 + count < packet.count else { throw .truncated }
      let continuation = Int(packet[7 + count])
      guard continuation <= 16 else { throw .badContinuation(continuation) }
      let whole = 7 + count + 1 + continuation
      guard whole == packet.count else { throw .badLength(said: whole - 5, is: packet.count - 5) }
      self = .part(packet[7..<7 + count], continues: continuation > 0)
    case let kind: throw .badKind(kind)
    }
  }
}
