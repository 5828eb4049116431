import Piconet
import PiconetTerminal

/// The options of every program for how it reaches others.
struct TransportOptions: Hashable, Sendable {
  var choice = TransportChoice.auto
  /// nil: any.
  var adapter: String?

  /// Whether Bluetooth was asked for: then it is an error if something is missing.
  func asksForBluetooth(_ address: DialPlace? = nil) -> Bool {
    if case .bluetooth = address { return true }
    return choice.isBluetoothOnly || adapter != nil
  }

  /// - Parameters:
  ///   - address: where to dial, if that was given.
  ///   - listen: where TCP should listen, if that was given.
  func check(address: DialPlace? = nil, listen: HostAndPort? = nil) throws(UsageError) {
    if let adapter, choice == .tcp {
      throw UsageError("'--adapter \(adapter)' and '--transport tcp' contradict: TCP uses no Bluetooth adapter")
    }
    if let address, address.kinds(choice).isEmpty {
      throw UsageError(
        "'--transport \(choice.rawValue)' does not lead to \(displaySafe(address.description))\(reason(address))")
    }
    if let listen, choice.isBluetoothOnly {
      throw UsageError("'--listen=\(listen)' is for TCP and contradicts '--transport \(choice.rawValue)'")
    }
  }

  /// Why the transport does not lead there: the numbers that it allows, if another one was given; otherwise which
  /// transport does.
  private func reason(_ address: DialPlace) -> String {
    if case .bluetooth(let text) = address, text.contains("/") {
      switch choice {
      case .rfcomm: return ": RFCOMM's channels are 1 to 30"
      case .le: return ": the PSMs of LE are 0x0080 to 0x00FF"
      case .auto, .bluetooth, .l2cap, .tcp: break
      }
    }
    let ways = TransportAddress.candidates(address.description).map { "\($0.kind)" }.joined(separator: ", ")
    return ", which is reached over: \(ways)"
  }
}

/// The arguments of a program that reaches others.
protocol TransportArguments: Sendable {
  var transport: TransportOptions { get set }
}

/// `--transport` and `--adapter`, for any program.
func transportOptions<Arguments: TransportArguments>(_ what: String) -> [Option<Arguments>] {
  [
    Option(
      "transport",
      help: """
        \(what) (default auto: a common IP network, then Bluetooth; what this machine lacks is left out by itself)
        """,
      .value(name: TransportChoice.choices) { (arguments, value) throws(UnacceptableValue) in
        arguments.transport.choice = try TransportChoice(value)
      }),
    Option(
      "adapter", help: "use this Bluetooth adapter (default: whichever there is); hci0, or its address",
      .value(name: "hciN") { (arguments, value) throws(UnacceptableValue) in
        arguments.transport.adapter = try OptionText.adapter(value)
      }),
  ]
}

extension OptionText {
  /// `hci0` or the adapter's address, in the kernel's spelling.
  static func adapter(_ argument: OptionArgument) throws(UnacceptableValue) -> String {
    let text = argument.text
    if text.hasPrefix("hci"), let number = UInt16(text.dropFirst(3)), text == "hci\(number)" { return text }
    if case .bluetooth(let address) = DialPlace.bluetooth(argument), address.utf8.count == 17 { return address }
    throw .because("an adapter is named like hci0, or by its address like 00:11:22:33:44:55")
  }
}
