import PiconetDBus
import PiconetDBusValues
import PiconetDNSSD
import PiconetRuntime

/// Whether Avahi would publish for this user, for a diagnosis.
public struct AvahiProbe: Sendable, Hashable {
  /// Why Avahi would not publish; nil: it would.
  public var failure: AvahiFailure?

  /// Asks Avahi for an entry group, which goes with the connection; nothing is published.
  public static func ask(timeout: Duration) async -> AvahiProbe {
    let loop: EventLoop
    do throws(SystemError) {
      loop = try EventLoop(name: "piconet-doctor")
    } catch {
      return AvahiProbe(failure: .noBus("\(error)"))
    }
    let failure = await withCheckedContinuation { (continuation: CheckedContinuation<AvahiFailure?, Never>) in
      loop.execute {
        AvahiQuestion.ask(loop: loop, address: .system, timeout: timeout) { continuation.resume(returning: $0) }
      }
    }
    loop.stop()
    return AvahiProbe(failure: failure)
  }
}

/// One question to Avahi. Confined to the loop; it holds itself until it is answered.
private final class AvahiQuestion {
  private var bus: AvahiBus?
  private var timer: LoopTimer?
  private var completion: ((AvahiFailure?) -> Void)?

  /// - Parameter completion: called once, on the loop.
  static func ask(
    loop: EventLoop, address: DBusConnection.Address, timeout: Duration, completion: @escaping (AvahiFailure?) -> Void
  ) {
    let question = AvahiQuestion()
    question.completion = completion
    question.timer = LoopTimer(loop: loop) { question.finish(.silent) }
    question.timer?.set(after: timeout)
    do throws(DBusFailure) {
      question.bus = try AvahiBus(loop: loop, address: address) { question.take($0) }
    } catch {
      question.finish(.noBus(AvahiMachine.words(error)))
    }
  }

  private func take(_ event: AvahiBus.Event) {
    switch event {
    case .owner(nil): finish(.notOnBus)
    case .owner:
      let call = AvahiCall(
        life: 0, purpose: .none, path: AvahiNames.serverPath, interface: AvahiNames.server, member: "EntryGroupNew")
      bus?.call(call) { [self] result in
        switch result {
        case .success: finish(nil)
        case .failure(let failure): finish(AvahiMachine.failure(failure))
        }
      }
    case .failed(let failure): finish(AvahiMachine.failure(failure))
    case .signal: break
    }
  }

  private func finish(_ failure: AvahiFailure?) {
    guard let completion else { return }
    self.completion = nil
    timer?.set(nil)
    timer = nil
    bus?.close()
    bus = nil
    completion(failure)
  }
}
