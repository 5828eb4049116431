import PiconetWire

/// The results of inquiries: the devices that must be asked for their records, the present nodes, and those that are
/// gone.
///
/// A node is gone when several whole inquiries in a row have missed its device, because a single one may miss devices;
/// an inquiry that was broken off to free the radio does not count.
public struct InquiryTable: Sendable {
  /// The most devices with the session's service.
  public static let deviceLimit = 64
  /// The most nodes on one device.
  public static let nodeLimit = 8
  /// The number of inquiries after which a device is asked again if it does not say whether its record has changed.
  static let unmarkedInterval = 4

  /// The effect of a fact.
  public enum Effect: Sendable, Hashable {
    /// Ask the device for its record; nil: it does not say where, like devices with an SDP server.
    case read(BluetoothAddress, psm: UInt16?)
    /// New, or changed.
    case seen(NodeRecord, on: BluetoothAddress)
    case gone(PeerID, Incarnation)
  }

  private struct Device: Hashable {
    var pointer: RecordPointer?
    /// Whether `nodes` has been read, and the pointer under which it was.
    var isKnown = false
    var known: RecordPointer?
    var isBeingRead = false
    /// The number of times in a row that it was asked without success.
    var failures = 0
    /// The inquiry before which it is not asked again.
    var notBefore = 0
    var missed = 0
    var wasSeen = true
    var nodes: [NodeRecord] = []
  }

  private let service: BluetoothUUID
  /// The number of inquiries without an answer after which a device is gone.
  private let patience: Int
  private var devices: [BluetoothAddress: Device] = [:]
  /// The number of inquiries so far.
  private var round = 0

  public init(service: BluetoothUUID, patience: Int = 3) {
    self.service = service
    self.patience = patience
  }

  /// Notes that a device answered an inquiry with this extended response.
  public mutating func responded(_ address: BluetoothAddress, _ data: [UInt8]) -> [Effect] {
    guard
      let response = try? AdvertisingData(decoding: data, limit: AdvertisingData.Capacity.inquiryResponse),
      response.services.contains(service)
    else { return [] }
    let pointer = response.serviceData(of: service).flatMap(RecordPointer.init)
    if devices[address] == nil, devices.count >= Self.deviceLimit { return [] }
    var device = devices[address] ?? Device(pointer: pointer)
    device.pointer = pointer
    device.wasSeen = true
    device.missed = 0
    // Without a mark only the record itself shows whether it has changed.
    let isDue = !device.isKnown || device.known != pointer || pointer == nil
    let mustRead = isDue && !device.isBeingRead && round >= device.notBefore
    if mustRead { device.isBeingRead = true }
    devices[address] = device
    return mustRead ? [.read(address, psm: pointer?.psm)] : []
  }

  /// Notes a device's answer when it was asked; nil: no answer. It is then asked again when it answers the next
  /// inquiry, but more and more rarely, down to every sixteenth.
  public mutating func answered(_ address: BluetoothAddress, with records: [NodeRecord]?) -> [Effect] {
    guard var device = devices[address] else { return [] }
    device.isBeingRead = false
    var effects: [Effect] = []
    if let records {
      let nodes = Array(records.prefix(Self.nodeLimit))
      let former = device.nodes
      device.nodes = nodes
      // A node that is gone here may be on another device, so the table has to be right by then.
      devices[address] = device
      effects = gone(former.filter { old in !nodes.contains { Self.isSame($0, old) } })
      effects += nodes.filter { !former.contains($0) }.map { .seen($0, on: address) }
      device.isKnown = true
      device.known = device.pointer
      device.failures = 0
      if device.pointer == nil { device.notBefore = round + Self.unmarkedInterval }
    } else {
      device.failures = min(device.failures + 1, 5)
      device.notBefore = round + (1 << (device.failures - 1))
    }
    devices[address] = device
    return effects
  }

  /// Notes that an inquiry has ended on its own.
  public mutating func inquiryEnded() -> [Effect] {
    round += 1
    var effects: [Effect] = []
    for address in devices.keys.sorted() {
      guard var device = devices[address] else { continue }
      device.missed = device.wasSeen ? 0 : device.missed + 1
      device.wasSeen = false
      if device.missed >= patience {
        devices[address] = nil
        effects += gone(device.nodes)
      } else {
        devices[address] = device
      }
    }
    return effects
  }

  /// Notes that an inquiry was broken off: devices that answered have been seen, and none counts as missed.
  public mutating func inquiryCancelled() {
    round += 1
    for (address, var device) in devices {
      device.wasSeen = true
      devices[address] = device
    }
  }

  /// The number of known devices.
  public var count: Int { devices.count }

  /// Returns the effects for nodes that are gone. A host with several adapters may still be there on another one.
  private func gone(_ nodes: [NodeRecord]) -> [Effect] {
    let left = devices.values.flatMap(\.nodes)
    return nodes.filter { node in !left.contains { Self.isSame($0, node) } }.map { .gone($0.peer, $0.incarnation) }
  }

  private static func isSame(_ one: NodeRecord, _ other: NodeRecord) -> Bool {
    one.peer == other.peer && one.incarnation == other.incarnation
  }
}
