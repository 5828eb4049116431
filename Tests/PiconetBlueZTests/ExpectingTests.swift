import PiconetDBusValues
import PiconetEngine
import PiconetSDP
import Testing

@testable import PiconetBlueZ

@Suite("A peer is expected over LE though nothing is advertised")
struct ExpectingTests {
  private static let silent: [String: DBusValue] = ["Type": .string("peripheral"), "Discoverable": .bool(false)]

  private static func expecting() -> Scene {
    var scene = Scene()
    scene.start(offer: false)
    scene.tell(.expecting(true))
    scene.answerAll()
    return scene
  }

  @Test("the adapter can be connected to, and tells nothing; afterwards it is as it was")
  func silent() {
    var scene = Self.expecting()
    #expect(scene.log == ["GetManagedObjects", "RegisterAdvertisement"])
    #expect(scene.shown == Self.silent)
    #expect(scene.daemon.adapters[Daemon.path]?.isDiscoverable == false && scene.daemon.profile == nil)
    // Nothing of it has to be renewed.
    scene.pass(.seconds(600))
    #expect(scene.log.count == 2)
    scene.tell(.expecting(false))
    scene.answerAll()
    #expect(scene.log.dropFirst(2) == ["UnregisterAdvertisement"])
    scene.tell(.shutDown)
    #expect(scene.ends == 1 && scene.daemon.adapters[Daemon.path]?.timeout == 180)
  }

  @Test("a node that hides stays there for the peer that it expects, and one that shows itself again is found")
  func hiding() {
    var scene = Scene()
    scene.start()
    scene.tell(.expecting(true))
    scene.log = []
    scene.tell(.advertise(nil))
    scene.answerAll()
    #expect(
      scene.log == [
        "UnregisterAdvertisement", "Set Discoverable bool(false)", "Set DiscoverableTimeout uint32(180)",
        "UnregisterProfile", "RegisterAdvertisement",
      ])
    #expect(scene.shown == Self.silent)
    scene.tell(.advertise(Scene.offer))
    scene.answerAll()
    #expect(scene.machine.isAdvertising)
    #expect(scene.shown["ServiceUUIDs"] == .strings([Scene.service.description]))
    #expect(scene.daemon.adapters[Daemon.path]?.advertisements == 1)
    scene.tell(.shutDown)
    scene.answerAll()
    #expect(scene.ends == 1 && scene.daemon.adapters[Daemon.path]?.advertisements == 0)
  }

  @Test("an adapter that is off is switched on for it, and off afterwards")
  func power() {
    var scene = Scene()
    scene.daemon.adapters[Daemon.path]?.isPowered = false
    scene.daemon.adapters[Daemon.other] = nil
    scene.start(offer: false)
    scene.tell(.expecting(true))
    scene.answerAll()
    #expect(scene.daemon.adapters[Daemon.path]?.isPowered == true)
    #expect(scene.daemon.adapters[Daemon.path]?.advertisements == 1)
    scene.tell(.expecting(false))
    scene.answerAll()
    #expect(scene.daemon.adapters[Daemon.path]?.isPowered == false)
  }

  @Test("after a link over LE has ended it, it is there again for the next one who comes")
  func renewed() {
    var scene = Self.expecting()
    scene.log = []
    scene.pass(.seconds(2))
    scene.tell(.reachedOverLowEnergy)
    scene.answerAll()
    #expect(scene.log == ["UnregisterAdvertisement", "RegisterAdvertisement"])
    scene.tell(.reachedOverLowEnergy)
    scene.pass(.seconds(2))
    #expect(scene.log.count { $0 == "RegisterAdvertisement" } == 2 && scene.shown == Self.silent)
  }

  @Test("without LE nothing is done, since an adapter answers over BR/EDR only while it is discoverable")
  func classicAlone() {
    var settings = BlueZSettings()
    settings.usesLowEnergy = false
    var scene = Scene(settings)
    scene.start(offer: false)
    scene.tell(.expecting(true))
    scene.pass(.seconds(60))
    #expect(scene.log == ["GetManagedObjects"])
  }

  @Test("a bluetoothd that was restarted gets it again")
  func restart() {
    var scene = Self.expecting()
    scene.tell(.daemonVanished)
    scene.calls = []
    scene.daemon.forgetClients()
    scene.tell(.daemonAppeared)
    scene.answerAll()
    #expect(scene.daemon.adapters[Daemon.path]?.advertisements == 1 && scene.shown == Self.silent)
  }
}
