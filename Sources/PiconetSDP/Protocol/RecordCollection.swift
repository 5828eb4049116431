/// Joins the parts of an SDP server's answer, within limits.
public struct RecordCollection: Sendable {
  /// The limits of one answer.
  public enum Limits {
    /// Bytes of all parts together.
    public static let bytes = DataElementLimits.bytes
    /// The number of parts: with the usual MTU of 672 each has some 660 bytes, but a server may give less each time.
    public static let parts = 128
  }

  /// What to do after a part.
  public enum Step: Sendable, Hashable {
    /// Ask for the next part.
    case askOn
    case done([AttributeList])
    case failed(Failure)
  }

  /// Why the answer has no lists.
  public enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
    case response(SDPResponse.Failure)
    /// The server's SDP_ErrorResponse.
    case refused(code: UInt16)
    case tooLong
    case tooManyParts
    /// An empty part with more to come: a server could go on like that forever.
    case emptyPart
    case lists(AttributeList.Failure)

    public var description: String {
      switch self {
      case .response(let failure): failure.description
      case .refused(let code): "the SDP server says error \(code)"
      case .tooLong: "the answer has more than \(Limits.bytes) bytes"
      case .tooManyParts: "the answer comes in more than \(Limits.parts) parts"
      case .emptyPart: "a part of the answer is empty"
      case .lists(let failure): failure.description
      }
    }
  }

  private var bytes: [UInt8] = []
  private var parts = 0

  public init() {}

  /// Takes a packet.
  /// - Parameter transaction: the transaction of the question that it must answer.
  public mutating func received(_ packet: [UInt8], transaction: UInt16) -> Step {
    let response: SDPResponse
    do {
      response = try SDPResponse(decoding: packet, transaction: transaction)
    } catch {
      return .failed(.response(error))
    }
    guard case .part(let part, let continues) = response else {
      if case .refused(let code) = response { return .failed(.refused(code: code)) }
      return .failed(.response(.truncated))
    }
    parts += 1
    guard bytes.count + part.count <= Limits.bytes else { return .failed(.tooLong) }
    bytes += part
    if continues, part.isEmpty { return .failed(.emptyPart) }
    if continues { return parts < Limits.parts ? .askOn : .failed(.tooManyParts) }
    do {
      return .done(try AttributeList.lists(decoding: bytes))
    } catch {
      return .failed(.lists(error))
    }
  }
}
