import PiconetDBusValues
import PiconetEngine
import Testing

@testable import PiconetBlueZ

@Suite("Links over BR/EDR are let in although the last pairing agent has gone")
struct AgentVisitTests {
  private func scene(_ settings: BlueZSettings = BlueZSettings(), afterAgent capability: String?) -> Scene {
    var scene = Scene(settings)
    scene.daemon.reportsPairable = true
    scene.daemon.capability = capability
    return scene
  }

  private func visits(_ scene: Scene) -> Int { scene.log.count { $0 == "RegisterAgent" } }

  @Test("a node that is visible lets an agent without screen and keys come and go, once, before it can be found")
  func visit() {
    var scene = scene(afterAgent: "KeyboardDisplay")
    #expect(!scene.daemon.letsIn)
    scene.start()
    #expect(scene.daemon.letsIn && !scene.daemon.hasOurAgent)
    #expect(
      scene.log == [
        "GetManagedObjects", "RegisterProfile", "RegisterAgent", "UnregisterAgent",
        "Set DiscoverableTimeout uint32(61)", "Set Discoverable bool(true)", "RegisterAdvertisement",
      ])
    scene.pass(.seconds(600))
    #expect(visits(scene) == 1 && scene.machine.isAdvertising)
  }

  @Test("after an agent has ended while the node is visible, the next link is let in")
  func agentEnds() {
    var scene = scene(afterAgent: nil)
    scene.start()
    scene.pass(.seconds(10))
    for count in 2...4 {
      scene.tell(scene.daemon.setOtherAgent(true))
      scene.pass(.seconds(10))
      #expect(visits(scene) == count - 1 && !scene.daemon.letsIn)
      scene.tell(scene.daemon.setOtherAgent(false))
      scene.answerAll()
      #expect(visits(scene) == count && scene.daemon.letsIn && !scene.daemon.hasOurAgent)
    }
  }

  @Test("an agent that is there is the only one asked")
  func desktop() {
    var scene = scene(afterAgent: nil)
    _ = scene.daemon.setOtherAgent(true)
    scene.start()
    scene.pass(.seconds(60))
    #expect(visits(scene) == 0 && scene.daemon.capability == "KeyboardDisplay")
  }

  @Test("nothing of it where a node only searches, or uses LE alone")
  func others() {
    var searching = scene(afterAgent: "KeyboardDisplay")
    searching.start(offer: false, search: true)
    searching.pass(.seconds(20))
    #expect(visits(searching) == 0)
    var settings = BlueZSettings()
    settings.usesClassic = false
    var low = scene(settings, afterAgent: "KeyboardDisplay")
    low.start()
    low.pass(.seconds(20))
    #expect(visits(low) == 0)
  }

  @Test("it is given up where bluetoothd or the bus does not allow agents, and never holds up what follows")
  func refused() {
    var scene = scene(afterAgent: "KeyboardDisplay")
    scene.daemon.refusals["RegisterAgent"] = "NotPermitted"
    scene.start()
    scene.pass(.seconds(120))
    #expect(visits(scene) == 1 && scene.machine.isAdvertising)
  }

  @Test("an agent whose registration went unanswered is taken back, also at the end")
  func uncertain() {
    var scene = scene(afterAgent: "KeyboardDisplay")
    scene.tell(.daemonAppeared)
    scene.tell(.advertise(Scene.offer))
    while scene.calls.first?.call.member != "RegisterAgent" { scene.answerOne() }
    let (id, call) = scene.calls.removeFirst()
    _ = scene.daemon.answer(call, at: scene.now)
    scene.tell(.shutDown)
    scene.tell(.replied(id, .failure(DBusFailure("org.freedesktop.DBus.Error.NoReply"))))
    scene.answerAll()
    #expect(!scene.daemon.hasOurAgent && scene.ends == 1)
  }

  @Test("another daemon knows nothing of what was, and is visited anew")
  func restarted() {
    var scene = scene(afterAgent: "KeyboardDisplay")
    scene.start()
    scene.tell(.daemonVanished)
    scene.daemon.forgetClients()
    scene.daemon.capability = "DisplayYesNo"
    scene.tell(.daemonAppeared)
    scene.answerAll()
    #expect(visits(scene) == 2 && scene.daemon.letsIn)
  }
}
