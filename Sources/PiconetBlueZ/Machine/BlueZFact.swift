import PiconetDBusValues
import PiconetEngine
import PiconetSDP
import PiconetWire

/// The number of a call; never used twice by one machine.
public struct BlueZCallID: Hashable, Sendable { public let rawValue: UInt64 }

/// The number of a reading of records; never used twice by one machine.
public struct BlueZReadID: Hashable, Sendable { public let rawValue: UInt64 }

/// The data that others get about this node: its record, and the service of its session.
public struct BlueZOffer: Sendable, Hashable {
  public var service: BluetoothUUID
  /// Its adapter is filled in by the machine.
  public var record: NodeRecord

  public init(service: BluetoothUUID, record: NodeRecord) {
    self.service = service
    self.record = record
  }
}

/// A search for nodes of a session.
public struct BlueZSearch: Sendable, Hashable {
  public var service: BluetoothUUID
  /// Records of other sessions are not reported.
  public var sessionID: String

  public init(service: BluetoothUUID, sessionID: String) {
    self.service = service
    self.sessionID = sessionID
  }
}

/// An input of the machine.
public enum BlueZFact: Sendable {
  /// bluetoothd has its name on the bus, and its signals are subscribed to.
  case daemonAppeared
  /// Its name, or the whole bus, is gone.
  case daemonVanished
  case interfacesAdded(path: String, BlueZInterfaces)
  case interfacesRemoved(path: String, [String])
  case propertiesChanged(path: String, interface: String, changed: [String: DBusValue], invalidated: [String])
  case replied(BlueZCallID, Result<[DBusValue], DBusFailure>)
  case advertise(BlueZOffer?)
  case search(BlueZSearch?)
  /// Whether a peer may connect over LE although nothing is advertised.
  case expecting(Bool)
  case radioBusy(Bool)
  /// Whether it may scan and read records even while the radio is busy.
  case radioTurn(Bool)
  /// Whether a record has to be read over LE, which Linux does not do while it scans.
  case pauseWanted(Bool)
  /// Another node of this process has begun to scan.
  case siblingScans(ScanWindow)
  /// Something has changed in `SharedAdapters`.
  case siblingsChanged
  case recordsRead(BlueZReadID, Result<[NodeRecord], LinkFailure>)
  /// bluetoothd has dropped the profile.
  case profileReleased
  /// bluetoothd has dropped the advertisement.
  case advertisementReleased
  /// A device has opened a channel to this node over LE. An incoming link ends the advertising without a report from
  /// bluetoothd, and Linux resumes it only when the link is over.
  case reachedOverLowEnergy
  /// A dial to an address of this device failed: what is known about it may be out of date.
  case dialFailed(BluetoothAddress)
  /// The machine must restore everything; `ended` follows, once.
  case shutDown
  case deadlineReached
}

/// An output of the machine; carry them out in this order.
public enum BlueZEffect: Sendable, Hashable {
  case call(BlueZCallID, BlueZCall)
  case read(BlueZReadID, service: BluetoothUUID, from: BluetoothPlace)
  case cancelRead(BlueZReadID)
  /// True: this node does not scan from now on, because of `pauseWanted`; false: it may scan again.
  case scanPaused(Bool)
  /// bluetoothd is scanning for us; the other nodes of this process must be told.
  case scans(ScanWindow)
  case report(DiscoveryReport)
  /// The properties that our advertisement object must show, before it is registered.
  case showAdvertisement([String: DBusValue])
  /// The adapter in use, or none.
  case adapter(path: String?, BluetoothAddress?)
  /// Nothing of this node is left in bluetoothd, as far as that was possible.
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
