import Piconet
import PiconetTerminal

/// Says what keeps this device from finding others over a network, or others from finding it, and when that is over.
struct NetworkNotes: Sendable {
  let console: Console
  let look: BluetoothLook
  /// Whether the program waits to be found, rather than looks for others.
  let isFound: Bool

  /// Reports what is in the way of the node's discovery until the node ends.
  func follow(_ node: Node) async {
    var notes = ObstacleNotes(isFound: isFound)
    for await obstacles in node.discoveryObstacles {
      for note in notes.due(obstacles) {
        switch note {
        case .warning(let words): console.warn(of: words, reason: "network")
        case .detail(let words): console.note(words, detail: 1)
        case .over: console.note("Nothing keeps others from finding this device over the network any more")
        }
      }
    }
  }

  /// Warns if there is no network, unless the warning about Bluetooth says so. A network that comes later is used at
  /// once.
  func tellLack() async {
    if look.obstacleTellsLack, await look.obstacleAtStart() != nil { return }
    let lack = await onItsOwnThread { (look.networkLack, look.hasRadio) }
    guard case (let words?, let hasRadio)? = lack else { return }
    if hasRadio { return console.note("There is no network here: others can reach this device over Bluetooth alone") }
    console.warn(of: words + "; waiting goes on", reason: "network")
  }
}

/// What is said of obstacles to discovery, each once. A value.
struct ObstacleNotes: Sendable {
  enum Note: Hashable, Sendable {
    case warning(String)
    /// Nothing is lost by it.
    case detail(String)
    /// What was warned of is no longer in the way.
    case over
  }

  let isFound: Bool
  private var told: Set<DiscoveryObstacle> = []

  init(isFound: Bool) { self.isFound = isFound }

  mutating func due(_ obstacles: [DiscoveryObstacle]) -> [Note] {
    let new = obstacles.filter { !told.contains($0) }
    let wasWarned = told.contains { note($0).isWarning }
    told = Set(obstacles)
    let isWarned = told.contains { note($0).isWarning }
    return new.map(note) + (wasWarned && !isWarned ? [.over] : [])
  }

  private func note(_ obstacle: DiscoveryObstacle) -> Note {
    switch obstacle {
    case .portTaken(let ipv4, let ipv6, let failure):
      guard isFound else { return .detail("Peers are looked for from another port: \(obstacle)") }
      let consequence =
        ipv4 && ipv6
        ? "others can't find this device over a network, but reach it by --address HOST:PORT"
        : "others find this device over \(ipv4 ? "IPv6" : "IPv4") alone"
      return .warning("\(obstacle): \(consequence). If it is Avahi: \(failure.advice) ('piconet doctor' says more)")
    case .interfacesLeftOut:
      return .warning(
        "\(obstacle); PICONET_INTERFACES chooses interfaces, sysctl net.ipv4.igmp_max_memberships allows more")
    default: return .warning("\(obstacle): peers can't find each other over a network until that is mended")
    }
  }
}

extension ObstacleNotes.Note {
  var isWarning: Bool { if case .warning = self { true } else { false } }
}
