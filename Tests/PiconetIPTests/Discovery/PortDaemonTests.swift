import PiconetDNSSD
import Testing

@testable import PiconetIP

@Suite("The daemon that has the port, as our endpoint sees it")
struct PortDaemonTests {
  /// Keeps what it is asked for.
  private final class Daemon: ResponderDaemon {
    private(set) var errands: [ResponderErrand] = []
    func setHandler(_ handler: @escaping (ResponderDaemonReport) -> Void) {}
    func serve(_ errand: ResponderErrand) { errands.append(errand) }
  }

  private static func instance(_ address: IPAddress, isIPv6: Bool, text: UInt8 = 1) -> ResolvedInstance {
    ResolvedInstance(
      name: ServiceType.piconet.name.prepending([0x78]) ?? DomainName(), text: [[text]],
      endpoints: [.init(interface: InterfaceID(index: 2, isIPv6: isIPv6), address: address, port: 4000)])
  }

  private let near = instance(.v4(0x0A00_0001), isIPv6: false)
  private let far = instance(.v6(high: 0xFE80 << 48, low: 1), isIPv6: true, text: 2)

  @Test("the daemon is told only of news; every reason for having nothing to do is one idle errand")
  func errands() {
    let daemon = Daemon()
    var port = PortDaemon(daemon)
    port.serve(ResponderErrand(families: [false]))
    #expect(daemon.errands.isEmpty)
    let search = ResponderErrand(families: [false], searches: true)
    port.serve(search)
    port.serve(search)
    #expect(daemon.errands == [search])
    port.serve(ResponderErrand(searches: true))
    port.leave()
    #expect(daemon.errands == [search, ResponderErrand()])
  }

  @Test("while it may serve in a moment there is no obstacle, and we don't ask ourselves; once it fails, both")
  func status() {
    var port = PortDaemon(Daemon())
    #expect(port.obstacle([false, true]) == nil && port.left(of: [false]) == [false] && port.served(of: [false]) == [])
    let isNew = [port.take(.status(.failing(.notOnBus))), port.take(.status(.failing(.notOnBus)))]
    #expect(isNew == [true, false])
    #expect(port.obstacle([false]) == .portTaken(ipv4: true, ipv6: false, avahi: .notOnBus))
    #expect(port.obstacle([]) == nil && port.left(of: [false]) == [])
    _ = port.take(.status(.serving(lacking: [true: .unpublished])))
    #expect(port.obstacle([false, true]) == .portTaken(ipv4: false, ipv6: true, avahi: .unpublished))
    #expect(port.obstacle([false]) == nil && port.served(of: [false]) == [false])
    port.leave()
    #expect(port.obstacle([false, true]) == nil)
  }

  @Test("a build without one says so, and asks from another port")
  func none() {
    var port = PortDaemon(nil)
    port.serve(ResponderErrand(families: [true], searches: true))
    #expect(port.obstacle([true]) == .portTaken(ipv4: false, ipv6: true, avahi: .notBuilt))
    #expect(port.left(of: [true]) == [])
  }

  @Test("a name that it finds over one family and we over the other is one instance, as long as either sees it")
  func joined() throws {
    var port = PortDaemon(Daemon())
    #expect(port.joined(.resolved(far)) == .resolved(far))
    _ = port.take(.browsed(.resolved(near)))
    guard case .updated(let both) = port.joined(.resolved(far)) else {
      Issue.record("not joined")
      return
    }
    #expect(both.endpoints == far.endpoints + near.endpoints)
    #expect(both.text == [[2]] && both.otherTexts == [[[1]]])
    #expect(port.joined(.removed(far.name)) == .updated(near))
    #expect(port.all(with: nil) == [near])
    _ = port.take(.browsed(.removed(near.name)))
    #expect(port.joined(.removed(far.name)) == .removed(far.name) && port.all(with: nil).isEmpty)
  }
}
