import Piconet
import PiconetCalls
import Synchronization

/// The kept signals of this node and of members, and the listeners.
final class SessionSignals: Sendable {
  typealias Receive = @Sendable (KeptSignals.Key, ArraySlice<UInt8>, Member) -> Void

  private struct Listener: Sendable {
    let interface: String
    let name: String
    let path: String?
    let member: Member?
    let receive: Receive
    let end: @Sendable () -> Void

    func hears(_ key: KeptSignals.Key, of sender: Member) -> Bool {
      interface == key.interface && name == key.name && path ?? key.path == key.path && member ?? sender == sender
    }
  }

  private struct State {
    var own = KeptSignals()
    var ofMembers: [Member: KeptSignals] = [:]
    var listeners: [Int: Listener] = [:]
    var last = 0
    var isOver = false
  }

  private let state = Mutex(State())

  // MARK: Signals of this node

  func keep(_ value: [UInt8], for key: KeptSignals.Key) -> Bool { state.withLock { $0.own.keep(value, for: key) } }

  func remove(_ key: KeptSignals.Key) { state.withLock { $0.own.remove(key) } }

  var keys: [KeptSignals.Key] { state.withLock { $0.own.keys } }

  func own(_ key: KeptSignals.Key) -> [UInt8]? { state.withLock { $0.own[key] } }

  // MARK: Signals of members

  func latest(_ key: KeptSignals.Key, of member: Member) -> [UInt8]? { state.withLock { $0.ofMembers[member]?[key] } }

  /// Takes a signal. Listeners are called under the lock, so that each hears values in their order: they only pass them
  /// on.
  func received(_ signal: CallFrame.Signal, from member: Member) {
    let key = KeptSignals.Key(path: signal.path, interface: signal.interface, name: signal.name)
    state.withLock { state in
      if state.isOver { return }
      if signal.isKept { _ = state.ofMembers[member, default: KeptSignals()].keep(signal.value, for: key) }
      for listener in state.listeners.values where listener.hears(key, of: member) {
        listener.receive(key, signal.value, member)
      }
    }
  }

  func left(_ member: Member) {
    let ended = state.withLock { state in
      state.ofMembers[member] = nil
      let ended = state.listeners.filter { $0.value.member == member }
      for number in ended.keys { state.listeners[number] = nil }
      return Array(ended.values)
    }
    for listener in ended { listener.end() }
  }

  /// - Parameters:
  ///   - path: nil: every object.
  ///   - member: nil: every member. For a named member, its kept value is reported at once.
  ///   - receive: called for each signal.
  ///   - end: called when no more signals come.
  ///   - register: gets the function that ends the listening.
  func listen(
    interface: String, name: String, path: String?, member: Member?, _ receive: @escaping Receive,
    until end: @escaping @Sendable () -> Void, with register: (@escaping @Sendable () -> Void) -> Void
  ) {
    let number = state.withLock { state -> Int? in
      if state.isOver { return nil }
      state.last += 1
      state.listeners[state.last] = Listener(
        interface: interface, name: name, path: path, member: member, receive: receive, end: end)
      if let path, let member {
        let key = KeptSignals.Key(path: path, interface: interface, name: name)
        if let value = state.ofMembers[member]?[key] { receive(key, value[...], member) }
      }
      return state.last
    }
    guard let number else { return end() }
    register { [weak self] in
      let gone = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
      withExtendedLifetime(gone) {}
    }
  }

  func stop() {
    let ended = state.withLock { state in
      state.isOver = true
      defer {
        state.listeners = [:]
        state.ofMembers = [:]
      }
      return Array(state.listeners.values)
    }
    for listener in ended { listener.end() }
  }
}
