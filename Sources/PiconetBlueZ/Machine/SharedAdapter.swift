import PiconetDBusValues
import PiconetEngine
import PiconetSDP

/// An adapter as the nodes of one process have found it, and what they have done to it. The last of them puts it back.
struct SharedAdapter: Hashable, Sendable {
  /// What it was set to before any of us touched it; nil: there is nothing to put back.
  var former: DiscoverableMode?
  /// Whether one of us has switched it on, and it was not switched off since.
  var hasPowered = false
  /// Whether it was off when one of us came, and we have not tried yet. If a user switches it off later, that stands.
  var mayPower = false
  /// Whether a node of another program was there before us; at its end it may switch off what it has switched on.
  var hasStranger = false
  /// Whether it is unknown if these were set.
  var isModeUncertain = false
  var isTimeoutUncertain = false
  var modeSetAt: Instant?
  var timeoutSetAt: Instant?
  /// When the mode was last seen to change, whoever has changed it.
  var modeChangedAt: Instant?
  /// What one of us has set last, by property. The others go by that until bluetoothd tells them.
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

  /// What was set since there were so many settings.
  func settings(after count: Int) -> [(property: String, value: DBusValue)] {
    if count == settingCount { return [] }
    return settings.filter { $0.value.number > count }.map { ($0.key, $0.value.value) }
  }
}

/// What a node does with an adapter, as far as it concerns the other nodes of its process.
struct AdapterClaim: Hashable, Sendable {
  let adapter: BluetoothAddress
  /// Whether it needs the adapter to be discoverable, or is changing that.
  var needsMode = false
  /// Whether it needs the adapter to be on, or is changing that.
  var needsPower = false
  /// Whether it is about to change what is advertised there, or is changing it.
  var wantsTurn = false
}

/// What the other nodes of its process leave to a node.
struct OtherClaims: Hashable, Sendable {
  /// Whether another one needs the adapter to be discoverable, and so will put the mode back.
  var needMode = false
  /// Whether another one needs the adapter to be on, and so will switch it off.
  var needPower = false
  /// Whether another one has its turn.
  var haveTurn = false
}
