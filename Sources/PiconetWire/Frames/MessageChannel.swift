/// One of 64 numbered channels in which two members send each other reliable messages. Each channel has its own order,
/// credit and priority. A long message in one does not delay another, and a channel that is not read stops only itself.
///
/// Messages go in channel 0 unless another channel is named. Both sides may use any channel; the meaning of its number
/// is up to them.
public struct MessageChannel: Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
  /// 0 to 63.
  public let number: UInt8

  /// The number of channels.
  public static let count = 64

  /// - Returns: nil for a number below 0 or above 63.
  public init?(_ number: Int) {
    guard (0..<Self.count).contains(number) else { return nil }
    self.number = UInt8(truncatingIfNeeded: number)
  }

  /// - Precondition: the number is 0 to 63.
  public init(integerLiteral number: UInt8) {
    precondition(number < Self.count, "message channels are numbered 0 to 63")
    self.number = number
  }

  public static func < (left: MessageChannel, right: MessageChannel) -> Bool { left.number < right.number }

  public var description: String { "\(number)" }
}

extension MessageChannel: Codable {
  /// Decodes a channel from its number.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let number = try container.decode(Int.self)
    guard let channel = MessageChannel(number) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "channel \(number); there are 0 to 63")
    }
    self = channel
  }

  /// Encodes the channel as its number.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(number)
  }
}
