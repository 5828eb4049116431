import Foundation

/// `gamekit-departures --modes MIXTURE --departure DEPARTURE --peers N --rounds N --within SECONDS` starts so many
/// processes of itself, each with one `GKSession`. In each round they become one session, and one of them goes. What
/// each delegate is told, and after how many seconds, is held against what it has to be told. How long that took is
/// printed, or what was wrong; then it ends with 1.
///
/// They use `lo` alone; with `PICONET_BUSES` set, as in `Tools/bluetooth-vm --hosts`, they use Bluetooth alone, each
/// with a host's adapter.
@main enum Main {
  static func main() {
    // A peer that has ended reads nothing more.
    signal(SIGPIPE, SIG_IGN)
    let arguments = CommandLine.arguments
    if arguments.count == 5, arguments[1] == "--peer", let mode = Mode(rawValue: arguments[3]) {
      DeparturePeer(name: arguments[2], mode: mode, sessionID: arguments[4]).follow()
    }
    guard let plan = Plan(Array(arguments.dropFirst())) else {
      print(Plan.usage)
      exit(2)
    }
    for round in 1...plan.rounds {
      let run = DepartureRun(plan)
      do {
        print("\(plan) round \(round): \(try run.play())")
        run.end()
      } catch {
        run.end()
        print("\(plan) round \(round): \(error)")
        exit(1)
      }
    }
  }
}

enum Mode: String { case server, client, peer }

/// What one command does.
struct Plan: CustomStringConvertible {
  /// In which modes the peers are, one after the other; the last one repeats.
  enum Mixture: String, CaseIterable {
    case server, peers, serverAndPeers, clientsAndPeers, servers

    func mode(_ number: Int) -> Mode {
      switch self {
      case .server: number == 0 ? .server : .client
      case .peers: .peer
      case .serverAndPeers: number == 0 ? .server : .peer
      case .clientsAndPeers: number.isMultiple(of: 2) ? .peer : .client
      case .servers: number < 2 ? .server : .client
      }
    }
  }

  enum Departure: String, CaseIterable {
    /// The last one leaves, or the first one, which the others have connected to.
    case leave, hostLeaves
    /// The last one is disconnected from all, by the first one or by another.
    case kick, guestKicks
    /// The last one no longer answers when the first one disconnects it from all, or when the others send.
    case kickUnreachable, unreachable
    /// The process of the last one, or of the first one, ends without a goodbye.
    case killed, exits, hostKilled
    /// The process of the last one ends as soon as it is connected with one of the others.
    case killedEarly

    var isOfHost: Bool { self == .hostLeaves || self == .hostKilled }
    /// Whether the departing process is told as well.
    var isTold: Bool { self == .leave || self == .hostLeaves || self == .kick || self == .guestKicks }
  }

  static let usage = """
    usage: gamekit-departures --modes MIXTURE --departure DEPARTURE --peers N --rounds N --within SECONDS
    MIXTURE: \(Mixture.allCases.map(\.rawValue).joined(separator: ", "))
    DEPARTURE: \(Departure.allCases.map(\.rawValue).joined(separator: ", "))
    """

  /// While a peer does not answer what it is sent waits, as long as this: then it is disconnected.
  static let disconnectTimeout = 3.0

  let mixture: Mixture
  let departure: Departure
  let peers: Int
  let rounds: Int
  let limit: Double

  init?(_ arguments: [String]) {
    guard arguments.count == 10, arguments[0] == "--modes", let mixture = Mixture(rawValue: arguments[1]),
      arguments[2] == "--departure", let departure = Departure(rawValue: arguments[3]),
      arguments[4] == "--peers", let peers = Int(arguments[5]), (2...8).contains(peers),
      arguments[6] == "--rounds", let rounds = Int(arguments[7]), rounds > 0,
      arguments[8] == "--within", let limit = Double(arguments[9]), limit > 0
    else { return nil }
    (self.mixture, self.departure, self.peers) = (mixture, departure, peers)
    (self.rounds, self.limit) = (rounds, limit)
  }

  var description: String { "\(mixture) \(departure) \(peers)" }
}

/// Seconds of the clock that all processes of a machine share.
func monotonicSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
