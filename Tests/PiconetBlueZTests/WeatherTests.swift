import PiconetDBusValues
import PiconetEngine
import PiconetSDP
import Testing

@testable import PiconetBlueZ

@Suite("Whatever order things come in, nothing is left behind")
struct WeatherTests {
  /// Facts in random order: daemons and adapters come and go, others change what we set, answers come late or not at
  /// all.
  static func run(seed: UInt64) -> String? {
    var dice = SeededRandom(seed: seed)
    var scene = Scene(settling: .milliseconds(500))
    let losesAnswers = seed % 4 == 0
    if seed % 3 == 0 { scene.daemon.adapters[Daemon.path]?.isPowered = false }
    scene.tell(.daemonAppeared)
    var isUp = true
    var touchedByOthers = false
    for _ in 0..<120 {
      switch UInt.random(in: 0..<25, using: &dice) {
      case 0: scene.tell(.advertise(Scene.offer))
      case 1: scene.tell(.advertise(nil))
      case 2: scene.tell(.search(Scene.search))
      case 3: scene.tell(.search(nil))
      case 4: scene.tell(.radioBusy(Bool.random(using: &dice)))
      case 24: scene.tell(.radioTurn(Bool.random(using: &dice)))
      case 5:
        if isUp {
          scene.calls = []
          scene.daemon.forgetClients()
          scene.tell(.daemonVanished)
        } else {
          scene.tell(.daemonAppeared)
        }
        isUp.toggle()
      case 6 where isUp: scene.tell(scene.daemon.change(Daemon.path) { $0.isPowered.toggle() })
      case 7 where isUp: scene.tell(scene.daemon.change(Daemon.path) { $0.isDiscoverable = false })
      case 8 where isUp && seed % 5 == 0:
        touchedByOthers = true
        let timeout = [0, 30, 180].randomElement(using: &dice) ?? 0
        scene.tell(scene.daemon.change(Daemon.path) { $0.timeout = UInt32(timeout) })
      case 9 where isUp:
        if scene.daemon.adapters[Daemon.other] != nil {
          scene.daemon.adapters[Daemon.other] = nil
          // A call to it finds no adapter, rather than the next one in its place.
          for index in scene.calls.indices where scene.calls[index].call.path == Daemon.other {
            scene.calls[index].call.path = "/gone"
          }
          scene.tell(.interfacesRemoved(path: Daemon.other, [BlueZNames.adapterInterface]))
        } else {
          scene.daemon.adapters[Daemon.other] = Daemon().adapters[Daemon.other]
          scene.tell(.interfacesAdded(path: Daemon.other, scene.daemon.interfaces(Daemon.other)))
        }
      case 10: scene.hear(Int.random(in: 0..<6, using: &dice))
      case 11: scene.forgetStrength(Int.random(in: 0..<6, using: &dice))
      case 12: scene.answerReads(.success([Scene.record(UInt8.random(in: 1..<5, using: &dice))]))
      case 13: scene.answerReads(.failure(LinkFailure(.timedOut)))
      case 14 where losesAnswers && !scene.calls.isEmpty:
        let (id, call) = scene.calls.removeFirst()
        // The node can't know whether the call was carried out.
        if Bool.random(using: &dice) { _ = scene.daemon.answer(call, at: scene.now) }
        scene.tell(.replied(id, .failure(DBusFailure(DBusFailure.timeout))))
      case 15 where scene.daemon.profile != nil:
        scene.daemon.profile = nil
        scene.tell(.profileReleased)
      case 16...19: scene.answerOne()
      case 20: scene.tell(.pauseWanted(Bool.random(using: &dice)))
      default:
        scene.now = scene.now + .milliseconds(Int64.random(in: 1..<20_000, using: &dice))
        for fact in scene.daemon.expire(at: scene.now) { scene.tell(fact) }
        scene.tell(.deadlineReached)
      }
      if scene.mostCalls > 1 { return "more than one call on its way" }
      if scene.mostReads > 2 { return "more than two readings" }
      if !isUp, !scene.calls.isEmpty { return "a call to nobody" }
      if zip(scene.pauses, scene.pauses.dropFirst()).contains(where: { $0 == $1 }) { return "a pause told twice" }
      // Our own scan, as far as answers tell.
      let scans = scene.daemon.adapters.values.contains(where: \.hasDiscovery)
      if !losesAnswers, isUp, scans, scene.calls.isEmpty, scene.pauses.last == true { return "a pause while we scan" }
    }
    if !isUp { scene.tell(.daemonAppeared) }
    scene.answerAll()
    scene.tell(.shutDown)
    scene.pass(.seconds(10))
    if scene.ends != 1 { return "\(scene.ends) ends" }
    if scene.machine.nextDeadline != nil { return "a deadline after the end" }
    if !scene.daemon.mistakes.isEmpty { return scene.daemon.mistakes.joined(separator: ", ") }
    for (path, adapter) in scene.daemon.adapters {
      if adapter.isDiscoverable { return "\(path) is left discoverable" }
      if adapter.hasDiscovery, !losesAnswers { return "\(path) is left scanning" }
      if adapter.advertisements > 0, !losesAnswers { return "\(path) is left advertising" }
      if adapter.timeout == 61 || adapter.timeout == 62, !losesAnswers, !touchedByOthers {
        return "\(path) has our timeout"
      }
    }
    if scene.daemon.profile != nil, !losesAnswers { return "a profile is left" }
    // Only what was seen is gone, and only once.
    var seen: Set<String> = []
    for report in scene.reports {
      switch report {
      case .seen(let sighting): seen.insert("\(sighting.peer) \(sighting.incarnation)")
      case .gone(let peer, let incarnation):
        // A new search starts with nothing, so what it never told it never takes back.
        if seen.remove("\(peer) \(incarnation)") == nil { return "gone without having been seen" }
      }
    }
    return nil
  }

  @Test("thousands of seeds")
  func seeds() {
    for seed in 0..<4000 as Range<UInt64> {
      if let fault = Self.run(seed: seed) {
        Issue.record("seed \(seed): \(fault)")
        return
      }
    }
  }
}
