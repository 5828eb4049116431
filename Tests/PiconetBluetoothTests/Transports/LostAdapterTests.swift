import PiconetEngine
import PiconetRuntime
import PiconetSDP
import Testing

@testable import PiconetBluetooth

extension BluetoothTransportTests {
  @Test(arguments: [SocketKind.l2cap, .rfcomm]) func anAdapterThatIsSwitchedOffFailsTheLink(_ kind: SocketKind)
    async throws
  {
    try await withNet(kind) { net in
      let (dialled, accepted) = try await net.pair()
      async let near = Pump.run(accepted, net.loop, wanted: .max, limit: .seconds(10))
      try runProgram("hciconfig", VirtualAdapters.names[1], "down")
      let end = await near.end
      await net.close(dialled)
      try restartAdapters()
      guard case .failed(let failure)? = end else {
        Issue.record("\(String(describing: end))")
        return
      }
      #expect(failure.code == .reset)
    }
  }

  @Test(arguments: [SocketKind.l2cap, .rfcomm]) func aListenerOutlivesTheAbsenceOfItsAdapter(_ kind: SocketKind)
    async throws
  {
    try await withNet(kind, { $0.dial.timeLimit = .seconds(2) }) { net in
      let address = try await net.listen()
      try runProgram("hciconfig", VirtualAdapters.names[1], "down")
      let meanwhile = await net.dial(address)
      try restartAdapters()
      if case .success = meanwhile { Issue.record("connected to an adapter that is off") }
      let (dialled, accepted) = try await net.pair()
      _ = await Pump.run(dialled, net.loop, writing: [1, 2, 3], wanted: 0)
      #expect(await Pump.run(accepted, net.loop, wanted: 3).bytes == [1, 2, 3])
      #expect(await net.perform { $0.listener.listeningAddresses } == [address])
    }
  }

  @Test func anAdapterThatIsOffSaysSo() async throws {
    try runProgram("hciconfig", VirtualAdapters.names[0], "down")
    try await withNet(.l2cap) { net in
      let place = BluetoothPlace(device: try VirtualAdapters.device(1), port: 0x1001)
      let result = await net.dial(TransportAddress(kind: .l2cap, text: place.description))
      try restartAdapters()
      guard case .failure(let failure) = result else {
        Issue.record("connected")
        return
      }
      #expect(failure.code == .notAvailable)
      #expect(failure.detail.contains("switched off"), "\(failure)")
    }
  }

  @Test func theMonitorTellsThatAnAdapterGoesAndComes() async throws {
    let loop = try EventLoop(name: "bt-monitor")
    let tables = AsyncStream.makeStream(of: AdapterTable.self)
    let monitor = MonitorBox()
    await loop.perform {
      monitor.value = try? AdapterMonitor(loop: loop) { tables.continuation.yield($0) }
    }
    let name = VirtualAdapters.names[1]
    var changes = tables.stream.makeAsyncIterator()
    try runProgram("hciconfig", name, "down")
    while let table = await changes.next(), table.adapter(.named(name))?.isUp != false {}
    try runProgram("hciconfig", name, "up")
    while let table = await changes.next(), table.adapter(.named(name))?.isUp != true {}
    try restartAdapters()
    await loop.perform { monitor.value = nil }
    loop.stop()
  }

  @Test func ertmCarriesBytesBothWays() async throws {
    try await withNet(.l2cap, { $0.socket.mode = .enhancedRetransmission }) { net in
      let (dialled, accepted) = try await net.pair()
      let bytes = someBytes(500_000)
      async let there = Pump.run(accepted, net.loop, writing: bytes, wanted: bytes.count)
      let back = await Pump.run(dialled, net.loop, writing: bytes, wanted: bytes.count)
      #expect(Same(await there.bytes, bytes).isSo)
      #expect(Same(back.bytes, bytes).isSo)
    }
  }

  /// What the kernel does in basic mode, which has no flow control: a reader that pauses loses bytes. With ERTM it does
  /// not.
  @Test(arguments: [SocketSettings.Mode.basic, .enhancedRetransmission])
  func aReaderThatPausesLosesBytesInBasicModeOnly(_ mode: SocketSettings.Mode) async throws {
    try await withNet(.l2cap, { $0.socket.mode = mode }) { net in
      let (dialled, accepted) = try await net.pair()
      let bytes = someBytes(1_500_000)
      async let writing = Pump.run(dialled, net.loop, writing: bytes, wanted: 0, limit: .seconds(5))
      let written = mode == .basic ? await writing : nil
      let there = await Pump.run(accepted, net.loop, wanted: bytes.count, limit: .seconds(mode == .basic ? 2 : 30))
      if written == nil { _ = await writing }
      print("paused \(mode): \(there.bytes.count) of \(bytes.count) came")
      #expect(Same(there.bytes, bytes).isSo == (mode == .enhancedRetransmission))
    }
  }
}

/// Makes both adapters as they were before. Both, since the emulator does not tell one that the other was switched off.
private func restartAdapters() throws {
  for name in VirtualAdapters.names.prefix(2) { try runProgram("hciconfig", name, "down") }
  for name in VirtualAdapters.names.prefix(2) {
    try runProgram("hciconfig", name, "up")
    try runProgram("hciconfig", name, "piscan")
  }
  try VirtualAdapters.advertise(VirtualAdapters.names[1])
}

private final class MonitorBox: @unchecked Sendable {
  // Sendable is right: touched on the loop only.
  var value: AdapterMonitor?
}
