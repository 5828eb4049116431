import PiconetDBusValues
import PiconetEngine
import PiconetSDP

/// An adapter as the nodes of one process have found it, and their changes to it. The last of them restores it.
struct SharedAdapter: Hashable, Sendable {
  /// Its settings before any node of this process changed it; nil: there is nothing to restore.
  var former: DiscoverableMode?
  /// Whether a node of this process has switched it on, and it was not switched off since.
  var hasPowered = false
  /// Whether it was off when a node of this process came, and none has tried to switch it on yet. If a user switches it
  /// off later, it stays off.
  var mayPower = false
  /// Whether a node of another program was there before us; at its end that program may switch off what it has switched
  /// on.
  var hasStranger = false
  /// Whether it is unknown if these were set.
  var isModeUncertain = false
  var isTimeoutUncertain = false
  var modeSetAt: Instant?
  var timeoutSetAt: Instant?
  /// When the mode was last seen to change, whatever the cause.
  var modeChangedAt: Instant?
  /// The last settings by nodes of this process, by property. The others use them until bluetoothd reports them.
  private(set) var settings: [String: Setting] = [:]
  private(set) var settingCount = 0

  struct Setting: Hashable, Sendable {
    let number: Int
    let value: DBusValue
  }

  mutating func set(_ property: String, _ value: DBusValue) {
    settingCount += 1
    settings[property] = Setting(number: settingCount, value: value)
  }

  /// Returns the settings made since their number was `count`.
  func settings(after count: Int) -> [(property: String, value: DBusValue)] {
    if count == settingCount { return [] }
    return settings.filter { $0.value.number > count }.map { ($0.key, $0.value.value) }
  }
}

/// A node's needs of an adapter, as far as they concern the other nodes of its process.
struct AdapterClaim: Hashable, Sendable {
  let adapter: BluetoothAddress
  /// Whether the node needs the adapter to be discoverable, or is changing that.
  var needsMode = false
  /// Whether the node needs the adapter to be on, or is changing that.
  var needsPower = false
  /// Whether the node is about to change the advertisements there, or is changing them.
  var wantsTurn = false
}

/// The needs of the other nodes of its process, as they concern one node.
struct OtherClaims: Hashable, Sendable {
  /// Whether another node needs the adapter to be discoverable, and so will restore the mode.
  var needMode = false
  /// Whether another node needs the adapter to be on, and so will switch it off.
  var needPower = false
  /// Whether another node has its turn.
  var haveTurn = false
}
