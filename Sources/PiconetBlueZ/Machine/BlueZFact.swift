import PiconetEngine
import PiconetSDP
import PiconetWire

/// A number of a call; never used twice by one machine.
public struct BlueZCallID: Hashable, Sendable { public let rawValue: UInt64 }

/// A number of a reading of records; never used twice by one machine.
public struct BlueZReadID: Hashable, Sendable { public let rawValue: UInt64 }

/// What is told of us: the node, and the service that stands for its session.
public struct BlueZOffer: Sendable, Hashable {
  public var service: BluetoothUUID
  /// Its adapter is filled in by the machine.
  public var record: NodeRecord

  public init(service: BluetoothUUID, record: NodeRecord) {
    self.service = service
    self.record = record
  }
}

/// What is looked for.
public struct BlueZSearch: Sendable, Hashable {
  public var service: BluetoothUUID
  /// Records of other sessions are not reported.
  public var scope: String

  public init(service: BluetoothUUID, scope: String) {
    self.service = service
    self.scope = scope
  }
}

/// What goes into the machine.
public enum BlueZFact: Sendable {
  /// bluetoothd has its name on the bus, and its signals are subscribed to.
  case daemonAppeared
  /// Its name is gone, or the whole bus.
  case daemonVanished
  case interfacesAdded(path: String, BlueZInterfaces)
  case interfacesRemoved(path: String, [String])
  case propertiesChanged(path: String, interface: String, changed: [String: DBusValue], invalidated: [String])
  case replied(BlueZCallID, Result<[DBusValue], DBusFailure>)
  case advertise(BlueZOffer?)
  case search(BlueZSearch?)
  case radioBusy(Bool)
  /// Also while it is busy it may scan and read records; or no more.
  case radioTurn(Bool)
  /// A record is to be read over LE, which Linux does not do while it scans; or none any more.
  case pauseWanted(Bool)
  /// Another node of this process has begun to scan.
  case siblingScans(ScanWindow)
  case recordsRead(BlueZReadID, Result<[NodeRecord], LinkFailure>)
  /// bluetoothd has dropped the profile.
  case profileReleased
  /// bluetoothd has dropped the advertisement.
  case advertisementReleased
  /// Somebody has opened a channel to us over LE. A link that comes in ends the advertising, without a word from
  /// bluetoothd, and Linux takes it up again only when the link is over.
  case reachedOverLowEnergy
  /// A dial to an address of this device failed: what is known of it may be out of date.
  case dialFailed(BluetoothAddress)
  /// Everything is to be restored; `ended` follows, once.
  case shutDown
  case deadlineReached
}

/// What comes out of it; to be done in this order.
public enum BlueZEffect: Sendable, Hashable {
  case call(BlueZCallID, BlueZCall)
  case read(BlueZReadID, service: BluetoothUUID, from: BluetoothPlace)
  case cancelRead(BlueZReadID)
  /// We do not scan from now on, because of `pauseWanted`; or we may scan again.
  case scanPaused(Bool)
  /// bluetoothd scans for us, which the other nodes of this process are to be told.
  case scans(ScanWindow)
  case report(DiscoveryReport)
  /// What our advertisement object shows; before it is registered.
  case showAdvertisement([String: DBusValue])
  /// The adapter in use, or none.
  case adapter(path: String?, BluetoothAddress?)
  /// Nothing of ours is left with bluetoothd, or it can't be helped.
  case ended
}

/// A method call to bluetoothd.
public struct BlueZCall: Sendable, Hashable {
  public var path: String
  public var interface: String
  public var member: String
  public var arguments: [DBusValue]
  public var timeout: Duration
}
