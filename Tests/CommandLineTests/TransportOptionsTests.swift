import Piconet
import Testing

@testable import PiconetCommandLine

private func address(_ text: String) throws(UnacceptableValue) -> DialPlace {
  try DialPlace(OptionArgument(bytes: Array(text.utf8)))
}

private func send(_ words: String...) throws -> ImageSendArguments? {
  let words = (words + ["a.jpg"]).map { Array($0.utf8) }
  let invocation = try OptionParser.parse(
    words, table: imagesendOptions, initial: ImageSendArguments(), posixlyCorrect: false)
  if case .run(let arguments) = invocation { return arguments }
  return nil
}

private func receive(_ words: String...) throws -> ImageReceiveArguments? {
  let invocation = try OptionParser.parse(
    words.map { Array($0.utf8) }, table: imagerecvOptions, initial: ImageReceiveArguments(), posixlyCorrect: false)
  if case .run(let arguments) = invocation { return arguments }
  return nil
}

@Suite("Transports on the command line")
struct TransportOptionsTests {
  @Test("each word stands for its transports, in order of preference")
  func kinds() {
    #expect(TransportChoice.auto.kinds == [.tcp, .l2cap, .rfcomm, .le])
    #expect(TransportChoice.bluetooth.kinds == [.l2cap, .rfcomm, .le])
    for choice in TransportChoice.allCases.dropFirst(2) { #expect(choice.kinds.map(\.rawValue) == [choice.rawValue]) }
    #expect(TransportChoice.allCases.filter(\.isBluetoothOnly) == [.bluetooth, .l2cap, .rfcomm, .le])
  }

  @Test(
    "a Bluetooth address is known as one, with the transports that its number leaves",
    arguments: [
      ("00:11:22:33:44:55", "00:11:22:33:44:55", [TransportKind.l2cap, .rfcomm, .le]),
      ("aa:bb:cc:dd:ee:ff/7", "AA:BB:CC:DD:EE:FF/7", [.rfcomm]),
      ("AA:BB:CC:DD:EE:FF/0x1005", "AA:BB:CC:DD:EE:FF/0x1005", [.l2cap]),
      ("AA:BB:CC:DD:EE:FF/0x81", "AA:BB:CC:DD:EE:FF/0x0081", [.le]),
      ("C0:11:22:33:44:55(random)", "C0:11:22:33:44:55(random)", [.le]),
    ])
  func bluetoothAddress(text: String, spelling: String, kinds: [TransportKind]) throws {
    #expect(try address(text) == .bluetooth(spelling))
    #expect(try address(text).kinds(.auto) == kinds)
    #expect(try address(text).kinds(.tcp) == [])
  }

  @Test("everything else is HOST:PORT")
  func networkAddress() throws {
    #expect(try address("192.0.2.7:4000") == .network(HostAndPort(host: "192.0.2.7", port: 4000)))
    #expect(try address("192.0.2.7:4000").kinds(.auto) == [.tcp])
    #expect(try address("de:4000") == .network(HostAndPort(host: "de", port: 4000)))
    #expect(try address("ab-cd:80") == .network(HostAndPort(host: "ab-cd", port: 80)))
    for text in ["Kitchen", "ab-cd", "12-34"] {
      #expect(throws: UnacceptableValue.because("expected HOST:PORT")) { try address(text) }
    }
    for text in ["fe80::1:4000", "::1:80", "2001:db8:0:0:0:0:0:1:80"] {
      #expect(throws: UnacceptableValue.because("an IPv6 address must be in brackets, as in [::1]:4000")) {
        try address(text)
      }
    }
  }

  @Test(
    "an error about pairs of hexadecimal digits shows the form of a Bluetooth address, and none of IP",
    arguments: [
      "00:11:22:33:44", "00:11:22:33:44:55:66", "00:11:22:33:44:5", "00-11-22-33-44-55", "aa-bb-cc-dd-ee-ff/7",
      "00:11:22:33:44:5g", "00:11:22:33:44/0x1005", "00:11:22:33:44:55/", "00:11:22:33:44:55/x",
    ])
  func nearlyBluetooth(text: String) {
    let isWhole = text.hasPrefix("00:11:22:33:44:55/")
    #expect(
      throws: UnacceptableValue.because(
        isWhole
          ? "behind a Bluetooth address stands a channel or a PSM, as in 00:11:22:33:44:55/0x1005"
          : "a Bluetooth address has six pairs of digits, as in 00:11:22:33:44:55")
    ) { try address(text) }
  }

  @Test("an adapter is hci and a number, or an address in either case")
  func adapter() throws {
    #expect(try send("--adapter=hci12")?.transport.adapter == "hci12")
    #expect(try send("--adapter=aa:bb:cc:dd:ee:ff")?.transport.adapter == "AA:BB:CC:DD:EE:FF")
    for text in ["hci", "hci01", "hci-1", "usb0", "", "00:11:22:33:44:55/7", "hci99999"] {
      #expect(
        throws: UsageError(
          "invalid argument '\(text)' for '--adapter': an adapter is named like hci0, or by its address like 00:11:22:33:44:55"
        )
      ) { try send("--adapter=\(text)") }
    }
  }

  @Test("options that contradict each other are refused, in whatever order they come")
  func contradictions() {
    let place = "'--transport tcp' does not lead to 00:11:22:33:44:55, which is reached over: l2cap, rfcomm, le"
    #expect(throws: UsageError(place)) { try send("--transport=tcp", "--address=00:11:22:33:44:55") }
    #expect(throws: UsageError(place)) { try send("--address=00:11:22:33:44:55", "--transport=tcp") }
    #expect(
      throws: UsageError("'--transport bluetooth' does not lead to 192.0.2.7:4000, which is reached over: tcp")
    ) { try send("--transport=bluetooth", "--address=192.0.2.7:4000") }
    #expect(
      throws: UsageError("'--transport l2cap' does not lead to 00:11:22:33:44:55/7, which is reached over: rfcomm")
    ) { try send("--transport=l2cap", "--address=00:11:22:33:44:55/7") }
    #expect(
      throws: UsageError(
        "'--transport rfcomm' does not lead to 00:11:22:33:44:55/0x001f: RFCOMM's channels are 1 to 30")
    ) { try send("--transport=rfcomm", "--address=00:11:22:33:44:55/31") }
    #expect(
      throws: UsageError(
        "'--transport le' does not lead to 00:11:22:33:44:55/7: the PSMs of LE are 0x0080 to 0x00FF")
    ) { try send("--transport=le", "--address=00:11:22:33:44:55/7") }
    let adapter = "'--adapter hci0' and '--transport tcp' contradict: TCP uses no Bluetooth adapter"
    #expect(throws: UsageError(adapter)) { try send("--adapter=hci0", "--transport=tcp") }
    #expect(throws: UsageError(adapter)) { try receive("--adapter=hci0", "--transport=tcp") }
    #expect(throws: UsageError("'--listen=:4000' is for TCP and contradicts '--transport rfcomm'")) {
      try receive("--listen=:4000", "--transport=rfcomm")
    }
    #expect(throws: Never.self) { try send("--transport=rfcomm", "--address=00:11:22:33:44:55", "--adapter=hci0") }
  }

  @Test("a transport that the machine lacks is reported only to a user that asks for it")
  func lacks() {
    let none = BluetoothHere(lack: "this kernel has no Bluetooth", adapters: [])
    let bare = BluetoothHere(lack: nil, adapters: [])
    let two = BluetoothHere(
      lack: nil,
      adapters: [.init(name: "hci0", address: "00:AA:01:00:00:00"), .init(name: "hci1", address: "00:AA:01:01:00:01")])
    for here in [none, bare, two] {
      #expect(here.refusal(of: TransportOptions()) == nil)
      #expect(here.refusal(of: TransportOptions(choice: .tcp)) == nil)
    }
    let bluetooth = TransportOptions(choice: .bluetooth)
    #expect(none.refusal(of: bluetooth)?.message == "Bluetooth was asked for, and this kernel has no Bluetooth")
    #expect(
      bare.refusal(of: bluetooth)?.message == "Bluetooth was asked for, and this machine has no Bluetooth adapter")
    #expect(two.refusal(of: bluetooth) == nil)
    #expect(two.refusal(of: TransportOptions(adapter: "hci1")) == nil)
    #expect(two.refusal(of: TransportOptions(adapter: "00:AA:01:01:00:01")) == nil)
    #expect(
      two.refusal(of: TransportOptions(adapter: "hci7"))?.message
        == "no Bluetooth adapter is called hci7; there is: hci0 (00:AA:01:00:00:00), hci1 (00:AA:01:01:00:01)")
    #expect(none.refusal(of: TransportOptions(), address: .bluetooth("00:11:22:33:44:55"))?.word == "no-bluetooth")
    #expect(none.refusal(of: TransportOptions(adapter: "hci7"))?.word == "no-bluetooth")
  }

  @Test("loopback alone means this machine: Bluetooth has to be asked for there")
  func loopback() {
    let lo = ProgramEnvironment(variable: { $0 == "PICONET_INTERFACES" ? "lo" : nil }, hostName: "h")
    let free = ProgramEnvironment(variable: { _ in nil }, hostName: "h")
    #expect(lo.transports(TransportOptions()) == [.tcp])
    #expect(lo.transports(TransportOptions(adapter: "hci0")) == [.tcp, .l2cap, .rfcomm, .le])
    #expect(lo.transports(TransportOptions(), address: .bluetooth("00:11:22:33:44:55")).count == 4)
    #expect(lo.transports(TransportOptions(choice: .rfcomm)) == [.rfcomm])
    #expect(free.transports(TransportOptions()) == [.tcp, .l2cap, .rfcomm, .le])
  }
}
