import Piconet

/// The place of a peer that `--address` gives.
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
        throw Self.bluetoothMistake(argument.text) ?? error
      }
    }
  }

  /// Returns the fault of a text that looks like a Bluetooth address; nil: it doesn't look like one. An IPv6 address
  /// has more parts, longer ones, or an empty one.
  private static func bluetoothMistake(_ text: String) -> UnacceptableValue? {
    let device = text.prefix { $0 != "/" }
    let parts = device.split(omittingEmptySubsequences: false) { $0 == ":" || $0 == "-" }
    let isPart = { (part: Substring) in (1...2).contains(part.utf8.count) && part.allSatisfy(\.isASCII) }
    let pairs = parts.filter { $0.utf8.count == 2 && $0.allSatisfy { $0.isASCII && $0.isHexDigit } }.count
    guard (5...7).contains(parts.count), parts.allSatisfy(isPart), pairs >= parts.count - 1 else { return nil }
    return bluetooth(OptionArgument(bytes: Array(device.utf8))) == nil
      ? .because("a Bluetooth address has six pairs of digits, as in 00:11:22:33:44:55")
      : .because("behind a Bluetooth address stands a channel or a PSM, as in 00:11:22:33:44:55/0x1005")
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
