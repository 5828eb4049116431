import Piconet
import Testing

@testable import PiconetCommandLine

@Suite("Notes about obstacles on the network")
struct NetworkNotesTests {
  private let taken = DiscoveryObstacle.portTaken(ipv4: true, ipv6: true, avahi: .notOnBus)
  private let leftOut = DiscoveryObstacle.interfacesLeftOut(["wlan0"])

  @Test("each obstacle is reported once, and so is the end of the last one; one that comes again is reported again")
  func once() {
    var notes = ObstacleNotes(isFound: true)
    #expect(notes.due([]).isEmpty)
    #expect(notes.due([taken]).count == 1)
    #expect(notes.due([taken]).isEmpty)
    #expect(notes.due([taken, leftOut]).count == 1)
    #expect(notes.due([leftOut]).isEmpty)
    #expect(notes.due([]) == [.over])
    #expect(notes.due([]).isEmpty)
    #expect(notes.due([taken]).count == 1)
  }

  @Test("a receiver says how others reach it; a search loses nothing by a port that is taken")
  func sides() {
    let words = { (obstacle: DiscoveryObstacle, isFound: Bool) -> ObstacleNotes.Note? in
      var notes = ObstacleNotes(isFound: isFound)
      return notes.due([obstacle]).first
    }
    #expect(
      words(taken, true)
        == .warning(
          "another program keeps UDP port 5353 to itself, and nothing answers to Avahi's name on the system bus: others "
            + "can't find this device over a network, but reach it by --address HOST:PORT. If it is Avahi: set "
            + "enable-dbus=yes in /etc/avahi/avahi-daemon.conf and restart Avahi ('piconet doctor' says more)"))
    let half = words(.portTaken(ipv4: true, ipv6: false, avahi: .silent), true)
    guard case .warning(let text)? = half else { return #expect(Bool(false), "no warning") }
    #expect(text.contains("over IPv4") && text.contains("find this device over IPv6 alone"))
    #expect(words(taken, false)?.isWarning == false)
    #expect(words(leftOut, false)?.isWarning == true && words(.failed("no socket"), false)?.isWarning == true)
  }

  @Test("of many interfaces that are left out some are named, and the rest counted")
  func many() {
    let names = (1...100).map { "veth\($0)" }
    #expect(DiscoveryObstacle.interfacesLeftOut(names).description.hasSuffix("veth1, veth2, veth3, veth4 and 96 more"))
  }
}
