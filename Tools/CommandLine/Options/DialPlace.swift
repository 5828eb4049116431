import Piconet

/// Where `--address` says that a peer is.
enum DialPlace: Hashable, Sendable, CustomStringConvertible {
  case network(HostAndPort)
  /// `00:11:22:33:44:55` with or without a PSM or channel, in the library's own spelling.
  case bluetooth(String)

  init(_ argument: OptionArgument) throws(UnacceptableValue) {
    if let place = Self.bluetooth(argument) {
      self = place
    } else {
      do throws(UnacceptableValue) {
        self = .network(try HostAndPort(argument))
      } catch {
        guard case .because(let reason) = error, argument.text.utf8.filter({ $0 == UInt8(ascii: ":") }).count == 5
        else { throw error }
        throw .because("\(reason); a Bluetooth address is six pairs of digits, as in 00:11:22:33:44:55")
      }
    }
  }

  /// The place if it is a Bluetooth address.
  static func bluetooth(_ argument: OptionArgument) -> DialPlace? {
    guard let text = TransportAddress.candidates(argument.text).first(where: { $0.kind != .tcp })?.text else {
      return nil
    }
    return .bluetooth(text)
  }

  /// The transports of `choice` that can lead there, in order of preference.
  func kinds(_ choice: TransportChoice) -> [TransportKind] {
    let leading = TransportAddress.candidates(description).map(\.kind)
    return choice.kinds.filter(leading.contains)
  }

  var description: String {
    switch self {
    case .network(let place): place.description
    case .bluetooth(let text): text
    }
  }
}
