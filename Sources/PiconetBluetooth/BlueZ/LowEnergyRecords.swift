import PiconetEngine
import PiconetRuntime
import PiconetSDP

/// Serves the records of a host's advertised nodes on LE's record channel, for peers that can't ask bluetoothd's SDP
/// server, which is on BR/EDR only. Confined to the loop.
///
/// All nodes at one adapter share a channel, whose answer holds all of their records; records that do not fit into one
/// answer are served on another channel. An adapter has few such channels for all programs: while none is free, this
/// tries again.
public final class LowEnergyRecords {
  private struct Told: Equatable {
    let adapter: BluetoothAddress
    let list: AttributeList
  }

  private struct Owner {
    let id: ObjectIdentifier
    var told: Told
    let reached: () -> Void
    var psm: UInt16?
  }

  /// How long to wait before trying again if others have all channels.
  static let retry = Duration.seconds(5)

  private let loop: EventLoop
  /// The owners, in the order in which they came.
  private var owners: [Owner] = []
  private var servers: [BluetoothAddress: [RecordServer]] = [:]
  private var timer: LoopTimer?

  public init(loop: EventLoop) {
    self.loop = loop
    timer = LoopTimer(loop: loop) { [weak self] in self?.serveAll() }
  }

  /// Returns the PSM at which this owner's record is served; nil: the record is not served.
  func psm(of owner: ObjectIdentifier) -> UInt16? { owners.first { $0.id == owner }?.psm }

  /// Serves this record from now on.
  /// - Parameters:
  ///   - record: nil (as any other parameter): the owner no longer has a record.
  ///   - reached: called on the loop each time a device has connected to its adapter's channels.
  func tell(
    _ record: NodeRecord?, of service: BluetoothUUID?, on adapter: BluetoothAddress?, for owner: ObjectIdentifier,
    reached: @escaping () -> Void
  ) {
    var wanted: Told?
    if var record, let service, let adapter {
      record.adapter = adapter
      wanted = (try? record.attributes(of: service)).map { Told(adapter: adapter, list: $0) }
    }
    let index = owners.firstIndex { $0.id == owner }
    let former = index.map { owners[$0].told }
    if wanted == former { return }
    switch (index, wanted) {
    case (let index?, let wanted?): owners[index].told = wanted
    case (let index?, nil): owners.remove(at: index)
    case (nil, let wanted?): owners.append(Owner(id: owner, told: wanted, reached: reached))
    case (nil, nil): break
    }
    for adapter in Set([former?.adapter, wanted?.adapter].compactMap { $0 }) { serve(at: adapter) }
  }

  /// Idempotent.
  func leave(_ owner: ObjectIdentifier) { tell(nil, of: nil, on: nil, for: owner) {} }

  private func serveAll() { for adapter in Set(owners.map(\.told.adapter)) { serve(at: adapter) } }

  private func serve(at adapter: BluetoothAddress) {
    let places = owners.indices.filter { owners[$0].told.adapter == adapter }
    let bundles = RecordBundle.bundles(of: places.map { owners[$0].told.list }, limit: RecordChannel.largest)
    var serving = servers[adapter] ?? []
    for server in serving.dropFirst(bundles.count) { server.close() }
    serving = Array(serving.prefix(bundles.count))
    var next = 0
    for (number, bundle) in bundles.enumerated() {
      if number < serving.count {
        serving[number].update(bundle)
      } else if number == serving.count, let server = listen(bundle, at: adapter) {
        serving.append(server)
      }
      for place in places[next..<(next + bundle.count)] {
        owners[place].psm = number < serving.count ? serving[number].psm : nil
      }
      next += bundle.count
    }
    servers[adapter] = serving.isEmpty ? nil : serving
    if owners.isEmpty { timer?.set(nil) }
  }

  private func listen(_ bundle: RecordBundle, at adapter: BluetoothAddress) -> RecordServer? {
    do {
      let server = try RecordServer(bundle, kind: .le, adapter: adapter, loop: loop)
      server.setReachedHandler { [weak self] in self?.reached(at: adapter) }
      return server
    } catch {
      // Waiting won't help a kernel without Bluetooth.
      if error.code == .busy || error.code == .tooManyDescriptors { timer?.set(after: Self.retry) }
      return nil
    }
  }

  /// The kernel does not report which of the adapter's advertisements the link has ended.
  private func reached(at adapter: BluetoothAddress) {
    for owner in owners where owner.told.adapter == adapter { owner.reached() }
  }
}
