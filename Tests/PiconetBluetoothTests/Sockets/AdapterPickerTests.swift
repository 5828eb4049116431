import PiconetEngine
import PiconetSDP
import Testing

@testable import PiconetBluetooth

@Suite struct AdapterPickerTests {
  private static let one = BluetoothAddress(rawValue: 1)
  private static let two = BluetoothAddress(rawValue: 2)

  private func choice(_ wanted: BluetoothConfiguration.Adapter, _ adapters: Adapter...) -> AdapterPicker {
    AdapterPicker(wanted) { AdapterTable(adapters) }
  }

  private let noRoute = LinkFailure(.unreachable, "connect: No route to host (EHOSTUNREACH)")

  @Test func anAdapterIsFoundByNameAndByAddress() throws {
    let up = Adapter(name: "hci1", device: Self.two, isUp: true)
    #expect(try choice(.named("hci1"), up).source(for: .l2cap).device == Self.two)
    #expect(try choice(.address(Self.two), up).source(for: .l2cap).device == Self.two)
    #expect(try choice(.any, up).source(for: .l2cap).device == SocketEnd.anyDevice)
  }

  @Test func wherePeersAreFoundIsWhereTheyAreDialledFrom() throws {
    let first = Adapter(name: "hci0", device: Self.one, isUp: true)
    var any = choice(.any, first, Adapter(name: "hci1", device: Self.two, isUp: true, hasLE: false))
    any.preferred = Self.two
    #expect(try any.source(for: .rfcomm).device == Self.two)
    #expect(try any.presentDevice() == Self.two)
    #expect(try any.listeningDevice() == SocketEnd.anyDevice, "a listener is on all of them")
    #expect(try any.source(for: .le).device == SocketEnd.anyDevice, "what it can't do may be done by another one")
    #expect(try any.source(for: .l2cap, to: Self.two).device == SocketEnd.anyDevice, "it does not reach itself")
    for table in [[first], [first, Adapter(name: "hci1", device: Self.two, isUp: false)]] {
      var choice = AdapterPicker(.any) { AdapterTable(table) }
      choice.preferred = Self.two
      #expect(try choice.source(for: .l2cap).device == SocketEnd.anyDevice, "it is off or gone")
    }
    var named = choice(.named("hci0"), first, Adapter(name: "hci1", device: Self.two, isUp: true))
    named.preferred = Self.two
    #expect(try named.source(for: .l2cap).device == Self.one, "the configured one counts")
  }

  @Test func anAdapterThatIsNotThereIsNamed() {
    for wanted in [BluetoothConfiguration.Adapter.named("hci7"), .address(Self.one)] {
      let choice = choice(wanted, Adapter(name: "hci0", device: Self.two, isUp: true))
      let failure = #expect(throws: LinkFailure.self) { try choice.source(for: .rfcomm) }
      #expect(failure?.code == .notAvailable)
      #expect(failure?.detail.contains(wanted == .named("hci7") ? "hci7" : "00:00:00:00:00:01") == true)
    }
  }

  @Test func noRouteSaysWhetherThereIsNoAdapterOrWhetherItIsOff() {
    #expect(choice(.any).explain(noRoute, .l2cap).detail.contains("there is no Bluetooth adapter"))
    let off = choice(.any, Adapter(name: "hci0", device: Self.one, isUp: false))
    #expect(off.explain(noRoute, .l2cap).code == .notAvailable)
    #expect(off.explain(noRoute, .l2cap).detail.contains("hci0 is switched off"))
    let on = choice(.any, Adapter(name: "hci0", device: Self.one, isUp: true))
    #expect(on.explain(noRoute, .l2cap) == noRoute)
    let refused = LinkFailure(.refused)
    #expect(off.explain(refused, .l2cap) == refused)
  }

  @Test func anAdapterWithoutLESaysSo() {
    let choice = choice(.any, Adapter(name: "hci0", device: Self.one, isUp: true, hasLE: false))
    #expect(choice.explain(noRoute, .le).detail == "hci0 can't do LE")
    #expect(choice.explain(noRoute, .l2cap) == noRoute)
    #expect(choice.usable(for: .le) == [])
    #expect(choice.usable(for: .rfcomm) == [Self.one])
  }

  /// Linux refuses at once if LE or BR/EDR is switched off on an adapter that has it; a peer's refusal comes later.
  @Test func aKindOfLinkThatIsSwitchedOffIsNotTakenForARefusalOfThePeer() {
    let choice = choice(.any, Adapter(name: "hci0", device: Self.one, isUp: true))
    let refused = LinkFailure(.refused)
    #expect(choice.explain(refused, .le) == refused)
    let off = choice.explain(refused, .le, isAtOnce: true)
    #expect(off.code == .notAvailable && off.detail.hasPrefix("LE is switched off"), "\(off)")
    #expect(choice.explain(refused, .rfcomm, isAtOnce: true).detail.hasPrefix("BR/EDR is switched off"))
  }

  @Test func aListenerDoesNotTakeAnAdapterWithoutAnAddressForAll() {
    let setUp = Adapter(name: "hci0", device: BluetoothAddress(rawValue: 0), isUp: false)
    let failure = #expect(throws: LinkFailure.self) { try choice(.named("hci0"), setUp).listeningDevice() }
    #expect(failure?.code == .notAvailable)
  }

  @Test func ofSeveralTheFirstThatIsOnCounts() {
    let table = AdapterTable([
      Adapter(name: "hci0", device: Self.one, isUp: false), Adapter(name: "hci1", device: Self.two, isUp: true),
    ])
    #expect(table.adapter(.any)?.name == "hci1")
    #expect(AdapterTable([table.adapters[0]]).adapter(.any)?.name == "hci0")
    #expect(AdapterTable([]).adapter(.any) == nil)
  }

  @Test func aListenerNeedsItsAdapterOnlyForItsName() throws {
    #expect(try choice(.address(Self.one)).listeningDevice() == Self.one)
    #expect(try choice(.any).listeningDevice() == SocketEnd.anyDevice)
    #expect(throws: LinkFailure.self) { try choice(.named("hci0")).listeningDevice() }
  }
}

@Suite struct SocketKindTests {
  @Test func numbersThatNobodyCanListenOnAreInvalid() {
    #expect(SocketKind.l2cap.isValid(port: 0x1011))
    #expect(!SocketKind.l2cap.isValid(port: 0x1010), "PSMs are odd")
    #expect(!SocketKind.l2cap.isValid(port: 0x1101), "their upper byte is even")
    #expect(SocketKind.rfcomm.isValid(port: 30))
    #expect(!SocketKind.rfcomm.isValid(port: 31))
    #expect(SocketKind.le.isValid(port: 0x80))
    #expect(!SocketKind.le.isValid(port: 0x100))
    for kind in SocketKind.allCases {
      #expect(!kind.isValid(port: 0))
      #expect(SocketKind(kind.transport) == kind)
    }
    #expect(SocketKind(.tcp) == nil)
  }
}
