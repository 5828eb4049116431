import PiconetEngine
import PiconetSDP

/// The ways to one device's records, tried one after the other: their order, and what a failure of one says about the
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

  /// The way that is being tried; nil: none is left.
  private(set) var current: Route?
  private(set) var losses: [Loss] = []
  private var left: [Route]
  /// How many readings in a row did not reach the device over BR/EDR: a single miss may be the radio's.
  private(set) var classicMisses: Int
  /// After this many misses a device counts as LE only.
  static let patience = 2

  /// - Parameters:
  ///   - place: a random address means LE; a number is that of a record channel.
  ///   - last: the way that last led to the device's records, if any did.
  ///   - isLinkedOverLowEnergy: whether a link to it exists over LE now, and none over BR/EDR. LE is then the only way:
  ///     when paging fails, bluetoothd forgets a device that it doesn't know well, and ends its links, including those
  ///     over LE.
  init(to place: BluetoothPlace, last: RouteMemory.Way? = nil, isLinkedOverLowEnergy: Bool = false) {
    if place.isRandom || (isLinkedOverLowEnergy && place.port == nil) {
      left = [.lowEnergy]
    } else if place.port != nil {
      left = [.recordChannel]
    } else {
      left = [.serviceDiscovery, .recordChannel, .lowEnergy]
    }
    classicMisses = last?.classicMisses ?? 0
    // After a single miss BR/EDR gets another chance.
    if let last, let index = left.firstIndex(of: last.route), classicMisses == 0 || classicMisses >= Self.patience {
      left.insert(left.remove(at: index), at: 0)
      // A device that BR/EDR reached before and does not now has usually gone away: no scan has to pause for it.
      if last.route != .lowEnergy { left.removeAll { $0 == .lowEnergy } }
    }
    current = left.removeFirst()
  }

  /// Notes that the present way has failed; `current` is the next one.
  mutating func failed(_ failure: LinkFailure) {
    guard let route = current else { return }
    losses.append(Loss(route: route, failure: failure))
    switch failure.code {
    // An answer without a record is certain. Failures on our own side are the same on each way. A present obstacle will
    // soon be gone, and a second connection would only add to it.
    case .noService, .cancelled, .permission, .tooManyDescriptors, .busy, .reset: left = []
    // The device is there, but does not answer in this way.
    case .refused: if route != .lowEnergy { classicMisses = 0 }
    case .unreachable, .timedOut, .hostDown, .authentication, .notAvailable, .connectionLimit, .other:
      guard route != .lowEnergy else { break }
      left.removeAll { $0 != .lowEnergy }
      classicMisses = min(classicMisses + 1, Self.patience)
    }
    current = left.isEmpty ? nil : left.removeFirst()
  }

  /// The failure of all of them: `noService` if the device is there but has no record.
  var failure: LinkFailure {
    var details: [String] = []
    for loss in losses where !details.contains(loss.failure.detail) { details.append(loss.failure.detail) }
    let words = details.joined(separator: "; ")
    let codes = losses.map { $0.failure.code == .refused ? .noService : $0.failure.code }
    guard let first = codes.first else { return LinkFailure(.noService, words) }
    // The way that worked before counts most: one that never did may be refused because nothing is behind it.
    let isDefinite = first == .noService || isDefiniteLater(codes)
    return LinkFailure(isDefinite ? .noService : first, words)
  }

  private func isDefiniteLater(_ codes: [LinkFailure.Code]) -> Bool {
    losses.first?.route != .lowEnergy && codes.contains(.noService)
  }

  /// Returns the records without useless numbers: if BR/EDR does not reach the device, its BR/EDR numbers would only
  /// cost the dialler time.
  func usable(_ records: [NodeRecord]) -> [NodeRecord] {
    guard current == .lowEnergy, classicMisses >= Self.patience else { return records }
    return records.map { record in
      var usable = record
      if record.lePSM != nil { (usable.l2capPSM, usable.rfcommChannel) = (nil, nil) }
      return usable
    }
  }
}

/// The ways that last led to each device's records.
struct RouteMemory: Sendable {
  struct Way: Sendable, Hashable {
    var route: RecordRoutes.Route
    var classicMisses: Int
  }

  /// The most devices that are remembered.
  static let limit = 256
  /// How many times in a row LE is taken without another try of BR/EDR, for which it is only a substitute.
  static let lowEnergyTurns = 8

  /// After this many failures in a row the way that last worked is forgotten.
  static let failureLimit = 3

  private struct Known {
    var way: Way
    var turns = 0
    var failures = 0
  }

  private var ways: [BluetoothAddress: Known] = [:]

  var count: Int { ways.count }

  mutating func way(to device: BluetoothAddress) -> Way? {
    guard var known = ways[device] else { return nil }
    if known.way.route == .lowEnergy, known.turns >= Self.lowEnergyTurns {
      ways[device] = nil
      return nil
    }
    known.turns += 1
    ways[device] = known
    return known.way
  }

  /// Notes that these routes have led to records.
  mutating func succeeded(_ routes: RecordRoutes, to device: BluetoothAddress) {
    guard let route = routes.current else { return }
    let way = Way(route: route, classicMisses: route == .lowEnergy ? routes.classicMisses : 0)
    if var known = ways[device], known.way == way {
      known.failures = 0
      ways[device] = known
      return
    }
    if ways[device] == nil, ways.count >= Self.limit { ways = [:] }
    ways[device] = Known(way: way)
  }

  /// Notes that no way has led there this time. For a device that none has led to yet there is nothing to forget.
  mutating func failed(_ device: BluetoothAddress) {
    guard var known = ways[device] else { return }
    known.failures += 1
    ways[device] = known.failures >= Self.failureLimit ? nil : known
  }
}
