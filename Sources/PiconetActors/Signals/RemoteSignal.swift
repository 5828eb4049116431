import Piconet
import PiconetCalls
import Synchronization

/// A report of objects that no call asks for: declared once, beside the interface that it belongs to.
///
/// ```swift
/// extension RemoteSignal where Value == Int {
///   public static var brightness: RemoteSignal { RemoteSignal("org.example.lamp", "brightness") }
/// }
/// ```
///
/// A signal that is emitted goes to all present members. A signal that is set is kept: a member that comes later gets
/// its latest value, too, and observing it begins with that value.
public struct RemoteSignal<Value: Codable & Sendable>: Sendable, Hashable {
  /// The name of the interface.
  public let interface: String
  /// The name of the signal.
  public let name: String

  /// - Parameters:
  ///   - interface: 1 to 127 bytes of ASCII letters and digits, `.`, `-` and `_`.
  ///   - name: a name of the same form.
  public init(_ interface: String, _ name: String) {
    self.interface = interface
    self.name = name
  }

  func key(_ path: String) throws(RemoteCallError) -> KeptSignals.Key {
    guard CallLimits.isName(interface), CallLimits.isName(name), CallLimits.isPath(path) else {
      throw RemoteCallError(.invalidArgument, detail: "'\(interface)', '\(name)' or '\(path)' is no name or no path")
    }
    return KeptSignals.Key(path: path, interface: interface, name: name)
  }
}

/// A received signal.
public struct ReceivedSignal<Value: Codable & Sendable>: Sendable {
  /// The value; the sender's own words.
  public let value: Value
  /// The path of the object that tells it.
  public let path: String
  /// The member that serves the object.
  public let sender: Member
}

private struct EncodedSignal: Sendable {
  let path: String
  let value: [UInt8]
  let sender: Member
}

/// The members that a signal is for.
@nonexhaustive
public enum SignalReach: Sendable {
  /// Every member that runs an actor system.
  case session
  /// One member.
  case member(Member)
}

extension PiconetActorSystem {
  /// Emits a signal, once. Waits until the members have taken it; a member that leaves meanwhile is skipped. So is a
  /// member that does not take it in time (`ActorSystemConfiguration.signalDeadline`), unless the signal is for it
  /// alone: signals for all no longer wait for it from then on, until it takes one at once.
  /// - Parameters:
  ///   - signal: the signal.
  ///   - value: its value.
  ///   - path: the object that tells it; it need not be published.
  ///   - reach: the receivers. Default: all members.
  /// - Throws: `invalidArgument`; `wrongArguments` if the value can't be encoded; `tooLarge`; `cancelled`;
  ///   `notAllowed`: the policy does not let the one member observe it. In a signal for all, such members are skipped.
  public func emit<Value>(
    _ signal: RemoteSignal<Value>, _ value: Value, from path: String = "/", to reach: SignalReach = .session
  ) async throws(RemoteCallError) {
    let key = try signal.key(path)
    let frame = try Self.frame(key, try Self.encoded(value), isKept: false)
    let present = allConversations.filter(\.hasGreeted)
    if case .member(let member) = reach {
      for conversation in present where conversation.member == member {
        guard conversation.mayObserve(key) else {
          throw RemoteCallError(.notAllowed, node: member.id, detail: "the policy does not let the member observe it")
        }
        try await conversation.deliver(frame)
      }
      return
    }
    // All at once, so that a slow member holds up none of the others.
    let receivers = present.filter { $0.mayObserve(key) && !$0.offerIfDeaf(frame) }
    let patience = configuration.signalDeadline
    let late = await withTaskGroup(of: Int?.self, returning: Set<Int>.self) { group in
      for (index, receiver) in receivers.enumerated() {
        group.addTask {
          do throws(RemoteCallError) {
            try await receiver.deliver(frame)
            return index
          } catch {
            return nil
          }
        }
      }
      group.addTask {
        try? await Task.sleep(for: patience)
        return nil
      }
      var waiting = Set(receivers.indices)
      while !waiting.isEmpty, let next = await group.next(), let index = next { waiting.remove(index) }
      group.cancelAll()
      return waiting
    }
    if late.isEmpty { return }
    if Task.isCancelled { throw RemoteCallError(.cancelled, detail: "the calling task was cancelled") }
    for index in late { receivers[index].missedSignal() }
  }

  /// Sets the value of a kept signal: members get it now, and those that come later. A member that takes it late gets
  /// the latest value, and may miss earlier ones.
  /// - Parameters:
  ///   - signal: the signal.
  ///   - value: its value from now on; nil: removes the value without notifying anyone.
  ///   - path: the object that it belongs to.
  /// - Throws: `invalidArgument` for a wrong name, or above 256 signals or 1 MiB of their values; `wrongArguments` if
  ///   the value can't be encoded; `tooLarge`.
  public func set<Value>(
    _ signal: RemoteSignal<Value>, _ value: Value?, of path: String = "/"
  ) throws(RemoteCallError) {
    let key = try signal.key(path)
    guard let value else { return signals.remove(key) }
    let encoded = try Self.encoded(value)
    _ = try Self.frame(key, encoded, isKept: true)
    guard signals.keep(encoded, for: key) else {
      throw RemoteCallError(
        .invalidArgument,
        detail: "at most \(KeptSignals.countLimit) signals and \(KeptSignals.byteLimit) bytes of values are kept")
    }
    for conversation in allConversations { conversation.hasToTell([key]) }
  }

  /// Returns the signals that come from now on, of all members. At most 256 of each member wait for the reader, and 4
  /// MiB; beyond that its oldest are dropped. Values of another type are skipped. Ends with the system.
  public func signals<Value>(_ signal: RemoteSignal<Value>) -> AsyncStream<ReceivedSignal<Value>> {
    // Decoded when it is read: a member that floods takes the time of its reader, and not that of the node's thread.
    let mailbox = FairMailbox<Member, EncodedSignal>(countLimit: 256, costLimit: 4 * 1_048_576)
    let ending = Mutex<(@Sendable () -> Void)?>(nil)
    signals.listen(interface: signal.interface, name: signal.name, path: nil, member: nil) { key, value, sender in
      mailbox.add(EncodedSignal(path: key.path, value: Array(value), sender: sender), cost: value.count, of: sender)
    } until: {
      mailbox.finish()
    } with: { end in
      ending.withLock { $0 = end }
    }
    let end = ending.withLock { $0 }
    return mailbox.stream { signal in
      Self.decoded(Value.self, signal.value[...], for: signal.sender).map {
        ReceivedSignal(value: $0, path: signal.path, sender: signal.sender)
      }
    } end: {
      end?()
    }
  }

  /// Returns the value of a member's kept signal: the one known now, then each that comes. A slow reader sees the
  /// latest, not every one. Ends when the member leaves.
  /// - Parameters:
  ///   - signal: the signal.
  ///   - path: the object that it belongs to.
  ///   - member: the member that tells it.
  public func values<Value>(
    of signal: RemoteSignal<Value>, at path: String = "/", of member: Member
  ) -> AsyncStream<Value> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      signals.listen(interface: signal.interface, name: signal.name, path: path, member: member) { _, value, sender in
        if let value = Self.decoded(Value.self, value, for: sender) { continuation.yield(value) }
      } until: {
        continuation.finish()
      } with: { end in
        continuation.onTermination = { _ in end() }
      }
    }
  }

  /// Returns the value of a member's kept signal known now; nil if none has come, or it is not of this type.
  public func value<Value>(of signal: RemoteSignal<Value>, at path: String = "/", of member: Member) -> Value? {
    guard let key = try? signal.key(path), let value = signals.latest(key, of: member) else { return nil }
    return Self.decoded(Value.self, value[...], for: member)
  }

  private static func encoded<Value: Encodable>(_ value: Value) throws(RemoteCallError) -> [UInt8] {
    do {
      return try RemoteArguments.encoded(value)
    } catch {
      throw RemoteCallError(.wrongArguments, detail: "the value can't be encoded")
    }
  }

  private static func decoded<Value: Decodable>(_ type: Value.Type, _ value: ArraySlice<UInt8>, for member: Member)
    -> Value?
  {
    var reader = CBORReader(value)
    return try? CBORDecoder().decode(type, from: &reader)
  }

  /// - Throws: `tooLarge` if some nodes may not take it.
  static func frame(_ key: KeptSignals.Key, _ value: [UInt8], isKept: Bool) throws(RemoteCallError) -> [UInt8] {
    let frame = CallFrame.signal(
      .init(path: key.path, interface: key.interface, name: key.name, value: value[...], isKept: isKept)
    ).encoded
    guard frame.count <= CallLimits.least.frame else {
      throw RemoteCallError(
        .tooLarge, detail: "\(frame.count) bytes of signal; every device takes \(CallLimits.least.frame)")
    }
    return frame
  }
}
