import PiconetEngine
import PiconetWire

/// Sightings: late, repeated, lost and found again, sometimes wrong.
extension World {
  func announce(_ observed: Int, to observer: Int) {
    guard observed != observer || weatherDice.chance(10) else { return }
    for source in 0..<scenario.discovery.sources {
      let delay = weatherDice.word() % scenario.discovery.delay
      enter(.sighting(observer: observer, observed: observed, source: source, isSeen: true), in: delay)
      if weatherDice.chance(scenario.discovery.repeatChance) {
        enter(
          .sighting(observer: observer, observed: observed, source: source, isSeen: true),
          in: delay + weatherDice.milliseconds(1...800))
      }
      if weatherDice.chance(scenario.discovery.flapChance) {
        let lost = delay + weatherDice.milliseconds(1...800)
        enter(.sighting(observer: observer, observed: observed, source: source, isSeen: false), in: lost)
        enter(
          .sighting(observer: observer, observed: observed, source: source, isSeen: true),
          in: lost + weatherDice.milliseconds(1...400))
      }
    }
  }

  /// Announces a node that has started to the others, and the others to it.
  func announceStart(of index: Int) {
    for other in 0..<scenario.nodeCount {
      if !isHostile(other) { announce(index, to: other) }
      if !isHostile(index) && other != index { announce(other, to: index) }
    }
  }

  func reportSighting(of observed: Int, to observer: Int, source: Int, isSeen: Bool) {
    let node = nodes[observer]
    guard node.isAlive else { return }
    let seen = nodes[observed]
    let name = source == 0 ? "dns-sd" : "second"
    guard isSeen else {
      return post(
        .fact(.discoveryReported(source: name, .gone(seen.peer, seen.node.incarnation))), to: node)
    }
    guard seen.isAlive || isHostile(observed) else { return }
    var incarnation = seen.node.incarnation
    var addresses = self.addresses(of: observed)
    if !isCalm && weatherDice.chance(scenario.discovery.wrongHintChance) {
      switch weatherDice.number(0...2) {
      case 0: addresses = self.addresses(of: weatherDice.number(0...(scenario.nodeCount - 1)))
      case 1: addresses.insert(TransportAddress(kind: .tcp, text: "nowhere"), at: 0)
      default: incarnation = Incarnation(rawValue: weatherDice.word())
      }
    }
    let sighting = Sighting(
      peer: seen.peer, incarnation: incarnation, name: "n\(observed)", info: [:], addresses: addresses)
    post(.fact(.discoveryReported(source: name, .seen(sighting))), to: node)
  }
}
