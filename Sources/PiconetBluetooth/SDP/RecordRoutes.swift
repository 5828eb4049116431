import PiconetEngine
import PiconetSDP

/// The ways to one device's records, tried one after the other: which comes first, and what a failure says of the
/// others. A pure value.
struct RecordRoutes: Sendable, Hashable {
  enum Route: Sendable, Hashable {
    /// The SDP server, over BR/EDR: bluetoothd's.
    case serviceDiscovery
    /// The record channel over BR/EDR: a node without bluetoothd.
    case recordChannel
    /// The record channel over LE.
    case lowEnergy
  }

  struct Loss: Sendable, Hashable {
    var route: Route
    var failure: LinkFailure
  }

  /// The way that is tried now; nil: none is left.
  private(set) var current: Route?
  private(set) var losses: [Loss] = []
  private var left: [Route]
  /// How many readings in a row did not reach the device over BR/EDR: once it may be the air.
  private(set) var classicMisses: Int
  /// After so many a device is one of LE only.
  static let patience = 2

  /// - Parameters:
  ///   - place: a random address is one of LE; a number is that of a record channel.
  ///   - last: what led to the device's records last time, if anything did.
  ///   - isLinkedOverLowEnergy: there is a link to it over LE now, and none over BR/EDR. Then LE is the only way:
  ///     bluetoothd forgets
  ///     a device that it doesn't know well when paging it fails, and ends its links, those over LE with it.
  init(to place: BluetoothPlace, last: RouteMemory.Way? = nil, isLinkedOverLowEnergy: Bool = false) {
    if place.isRandom || (isLinkedOverLowEnergy && place.port == nil) {
      left = [.lowEnergy]
    } else if place.port != nil {
      left = [.recordChannel]
    } else {
      left = [.serviceDiscovery, .recordChannel, .lowEnergy]
    }
    classicMisses = last?.classicMisses ?? 0
    // After one miss BR/EDR has another chance.
    if let last, let index = left.firstIndex(of: last.route), classicMisses == 0 || classicMisses >= Self.patience {
      left.insert(left.remove(at: index), at: 0)
      // What BR/EDR led to and does not lead to now has gone away, mostly: no scan has to pause for it.
      if last.route != .lowEnergy { left.removeAll { $0 == .lowEnergy } }
    }
    current = left.removeFirst()
  }

  /// The way that is tried has failed; `current` is the next one.
  mutating func failed(_ failure: LinkFailure) {
    guard let route = current else { return }
    losses.append(Loss(route: route, failure: failure))
    switch failure.code {
    // Whoever answers without a record knows; what concerns ourselves is the same on each way; and what is in the way
    // now is soon gone, while a second connection would be in the way as well.
    case .noService, .cancelled, .permission, .tooManyDescriptors, .busy, .reset: left = []
    // Somebody is there, who answers otherwise.
    case .refused: if route != .lowEnergy { classicMisses = 0 }
    default:
      guard route != .lowEnergy else { break }
      left.removeAll { $0 != .lowEnergy }
      classicMisses = min(classicMisses + 1, Self.patience)
    }
    current = left.isEmpty ? nil : left.removeFirst()
  }

  /// The failure of all of them: `noService` where the device is there, and tells nothing.
  var failure: LinkFailure {
    var details: [String] = []
    for loss in losses where !details.contains(loss.failure.detail) { details.append(loss.failure.detail) }
    let words = details.joined(separator: "; ")
    let codes = losses.map { $0.failure.code == .refused ? .noService : $0.failure.code }
    guard let first = codes.first else { return LinkFailure(.noService, words) }
    // What led there before counts most: a way that never did may be refused because there is nobody behind it.
    let isDefinite = first == .noService || isDefiniteLater(codes)
    return LinkFailure(isDefinite ? .noService : first, words)
  }

  private func isDefiniteLater(_ codes: [LinkFailure.Code]) -> Bool {
    losses.first?.route != .lowEnergy && codes.contains(.noService)
  }

  /// The records as they count: where BR/EDR does not lead to the device, its numbers of BR/EDR only cost the dialler
  /// time.
  func usable(_ records: [NodeRecord]) -> [NodeRecord] {
    guard current == .lowEnergy, classicMisses >= Self.patience else { return records }
    return records.map { record in
      var usable = record
      if record.lePSM != nil { (usable.l2capPSM, usable.rfcommChannel) = (nil, nil) }
      return usable
    }
  }
}

/// What led to the records of devices last time.
struct RouteMemory: Sendable {
  struct Way: Sendable, Hashable {
    var route: RecordRoutes.Route
    var classicMisses: Int
  }

  /// The most devices that are remembered.
  static let limit = 256
  /// So many times in a row LE is taken without another try of BR/EDR, of which LE is only the substitute.
  static let lowEnergyTurns = 8

  /// So many failures in a row, and it is forgotten what led there before.
  static let failureLimit = 3

  private struct Known {
    var way: Way
    var turns = 0
    var failures = 0
  }

  private var ways: [BluetoothAddress: Known] = [:]

  var count: Int { ways.count }

  mutating func way(to device: BluetoothAddress) -> Way? {
    guard let known = ways[device] else { return nil }
    if known.way.route == .lowEnergy, known.turns >= Self.lowEnergyTurns {
      ways[device] = nil
      return nil
    }
    ways[device]?.turns += 1
    return known.way
  }

  /// These routes have led to records.
  mutating func succeeded(_ routes: RecordRoutes, to device: BluetoothAddress) {
    guard let route = routes.current else { return }
    let way = Way(route: route, classicMisses: route == .lowEnergy ? routes.classicMisses : 0)
    ways[device]?.failures = 0
    if ways[device]?.way == way { return }
    if ways[device] == nil, ways.count >= Self.limit { ways = [:] }
    ways[device] = Known(way: way)
  }

  /// Nothing has led there this time.
  mutating func failed(_ device: BluetoothAddress) {
    ways[device]?.failures += 1
    if let known = ways[device], known.failures >= Self.failureLimit { ways[device] = nil }
  }
}
