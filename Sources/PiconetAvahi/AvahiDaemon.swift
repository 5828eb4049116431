import PiconetDBus
import PiconetDBusValues
import PiconetDNSSD
import PiconetEngine
import PiconetRuntime

/// Avahi as the daemon that publishes and browses for us, over the system bus. Confined to the loop.
///
/// The bus is connected while there is an errand. When the connection closes, Avahi withdraws our services.
public final class AvahiDaemon: ResponderDaemon {
  private let loop: EventLoop
  private let address: DBusConnection.Address
  private var machine = AvahiMachine()
  private var bus: AvahiBus?
  private var timer: LoopTimer?
  private var handler: ((ResponderDaemonReport) -> Void)?
  private var facts: [AvahiFact] = []
  private var isHandling = false

  /// Creates a daemon without connecting yet.
  public convenience init(loop: EventLoop) { self.init(loop: loop, address: .system) }

  package init(loop: EventLoop, address: DBusConnection.Address) {
    self.loop = loop
    self.address = address
    timer = LoopTimer(loop: loop) { [weak self] in self?.take(.time) }
  }

  deinit {
    timer?.set(nil)
    bus?.close()
  }

  public func setHandler(_ handler: @escaping (ResponderDaemonReport) -> Void) { self.handler = handler }

  public func serve(_ errand: ResponderErrand) {
    loop.executeLater { [weak self] in self?.take(.errand(errand)) }
  }

  /// Takes a fact. Facts that come up while one is handled wait for their turn.
  private func take(_ fact: AvahiFact) {
    facts.append(fact)
    guard !isHandling else { return }
    isHandling = true
    while !facts.isEmpty {
      for effect in machine.handle(facts.removeFirst(), at: .nanoseconds(Int64(clamping: loop.now.nanoseconds))) {
        perform(effect)
      }
    }
    isHandling = false
    timer?.set(machine.nextDeadline.map { Instant(nanoseconds: UInt64(clamping: max(0, $0.wholeNanoseconds))) })
  }

  private func perform(_ effect: AvahiEffect) {
    switch effect {
    case .connect: connect()
    case .disconnect:
      bus?.close()
      bus = nil
    case .call(let call): bus?.call(call) { [weak self] in self?.take(.answer(call, $0)) }
    case .report(let report): handler?(report)
    }
  }

  private func connect() {
    do throws(DBusFailure) {
      let bus = try AvahiBus(loop: loop, address: address) { [weak self] event in
        switch event {
        case .owner(let name): self?.take(.owner(name))
        case .failed(let failure): self?.take(.busFailed(failure))
        case .signal(let signal):
          self?.take(
            .signal(
              path: signal.path, interface: signal.interface, member: signal.member, arguments: signal.arguments))
        }
      }
      bus.isWanted = { [weak self] call in call.life == self?.machine.life }
      self.bus = bus
    } catch {
      take(.busFailed(error))
    }
  }
}
