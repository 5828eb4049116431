import Foundation
import PiconetEngine
import Testing

/// One way to run the session tests: the transport, and whether this machine has it.
struct SuiteTransport: Sendable, Hashable, CustomTestStringConvertible {
  enum Medium: Sendable, Hashable {
    /// In this process, as a byte stream, or as packets as small as those of LE.
    case memory(packets: Bool)
    case loopback
    /// With one place for each node.
    case bluetooth([AdapterPlace])
  }

  let name: String
  let kind: TransportKind
  let medium: Medium
  /// Why this machine can't run it; nil if it can.
  let missing: String?

  var testDescription: String { name }

  // MARK: Which there are

  static let simulated = SuiteTransport(
    name: "simulated", kind: .simulated, medium: .memory(packets: false), missing: nil)
  static let packets = SuiteTransport(
    name: "simulated packets", kind: .simulated, medium: .memory(packets: true), missing: nil)
  static let tcp = SuiteTransport(name: "TCP", kind: .tcp, medium: .loopback, missing: nil)
  static let l2cap = bluetooth("L2CAP", .l2cap)
  static let rfcomm = bluetooth("RFCOMM", .rfcomm)
  static let le = bluetooth("LE", .le)

  static let every = [simulated, packets, tcp, l2cap, rfcomm, le]

  /// Those that this machine has. `AvailabilityTests` names the others with the reason.
  static let all = every.filter { $0.missing == nil }
  /// Those with room for a third node.
  static let ofThree = all.filter { $0.nodeLimit >= 3 }
  static let ofThreeByRadio = ofThree.filter(\.usesBluetooth)
  /// Those whose links a test can silence and cut.
  static let breakable = all.filter { $0.missingFaults == nil }

  /// Those over which a node that is not advertised can be dialled by who has its address: an adapter answers over
  /// BR/EDR only while it is discoverable.
  static let reachedHidden = breakable.filter { $0.kind != .l2cap && $0.kind != .rfcomm }

  /// Those on which silence loses nothing: on the air packets are gone, and the link with them.
  static let lossless = breakable.filter { !$0.usesBluetooth }

  /// Those whose packets take a radio's time if a test wants it, with room for a third node.
  static let paced = breakable.filter { $0.kind == .l2cap && $0.nodeLimit >= 3 }

  /// Those whose adapter a test can take away and give back.
  static let pluggable = all.filter { if case .memory = $0.medium { true } else { false } }

  /// `PICONET_SUITE` names the only ones wanted, by kind, such as `l2cap,rfcomm`.
  private static let wanted = list("PICONET_SUITE")
  /// The places of a test's nodes over Bluetooth, one after the other.
  static let places = (list("PICONET_PLACES") ?? list("PICONET_ADAPTERS") ?? []).map(AdapterPlace.init)
  /// The names of the places that are adapters of this machine.
  static let adapters = places.compactMap { if case .here(let name) = $0 { name } else { nil } }
  /// The socket of the program that silences and cuts links between emulated adapters.
  static let faultSocket = ProcessInfo.processInfo.environment["PICONET_FAULTS"].flatMap { $0.isEmpty ? nil : $0 }

  private static func list(_ variable: String) -> [String]? {
    ProcessInfo.processInfo.environment[variable].map { $0.split(separator: ",").map(String.init) }
  }

  private static func bluetooth(_ name: String, _ kind: TransportKind) -> SuiteTransport {
    var missing: String?
    #if Bluetooth
      if places.count < 2 {
        missing = "PICONET_ADAPTERS names no two adapters, such as hci0,hci1; a virtual machine has emulated ones"
      } else if let wrong = places.lazy.compactMap(\.fault).first {
        missing = wrong
      }
    #else
      missing = "built without the trait Bluetooth"
    #endif
    if let wanted, !wanted.contains(kind.rawValue) { missing = "PICONET_SUITE does not name \(kind.rawValue)" }
    return SuiteTransport(name: name, kind: kind, medium: .bluetooth(places), missing: missing)
  }

  private init(name: String, kind: TransportKind, medium: Medium, missing: String?) {
    self.name = name
    self.kind = kind
    self.medium = medium
    var missing = missing
    if missing == nil, let wanted = Self.wanted, !wanted.contains(kind.rawValue) {
      missing = "PICONET_SUITE does not name \(kind.rawValue)"
    }
    self.missing = missing
  }

  // MARK: What differs

  var usesBluetooth: Bool { if case .bluetooth = medium { true } else { false } }

  /// How many nodes can have a place each.
  var nodeLimit: Int { if case .bluetooth(let places) = medium { places.count } else { .max } }

  /// Whether some nodes are at adapters of other machines.
  var isBetweenMachines: Bool {
    if case .bluetooth(let places) = medium { places.contains(where: \.isFar) } else { false }
  }

  /// Why its links can't be broken on demand.
  var missingFaults: String? {
    if let missing { return missing }
    if isBetweenMachines { return "nobody breaks links between two machines on demand" }
    return usesBluetooth && Self.faultSocket == nil
      ? "PICONET_FAULTS names no socket of a virtual machine that breaks links" : nil
  }

  /// For what must happen before a test goes on.
  var patience: Duration { usesBluetooth ? .seconds(20) : .seconds(30) }

  /// How long until a peer that is gone is missed. Over Bluetooth no signal says so, and 48 s were seen.
  var forgetting: Duration { usesBluetooth ? .seconds(70) : patience }

  /// How long one test may take altogether.
  var testLimit: Duration { usesBluetooth ? .seconds(95) : .seconds(100) }

  /// The pause between two looks at what a test waits for: an emulated processor has others to serve.
  var glance: Duration { usesBluetooth ? .milliseconds(10) : .milliseconds(1) }

  /// A time in which an attempt that is meant to run out of time has reached the other side.
  var shortAttempt: Duration { usesBluetooth ? .seconds(6) : .seconds(4) }

  /// A silence that no healthy link of this kind keeps.
  var silence: Duration { usesBluetooth ? .seconds(4) : .seconds(1) }

  /// How much to send of what should be much: fewer messages and smaller files where a byte takes longer.
  func amount(_ full: Int) -> Int { usesBluetooth ? max(1, full / 10) : full }
}
