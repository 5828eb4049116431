import Piconet
import PiconetCalls

/// The settings of an actor system.
public struct ActorSystemConfiguration: Sendable {
  /// The rule for what members may do: call, observe signals and tell them, own names. Default: members that a person
  /// or the program has let in may do everything.
  public var policy = CallPolicy.letInHere
  /// How long a call may take, from when it is made until its answer has arrived, unless `CallDeadline` says otherwise.
  /// More than 0 and at most a day. Default 25 s.
  public var deadline: Duration = .seconds(25)
  /// The number of calls of one member that may be unanswered at a time; more are refused with `tooManyCalls`. 16 to
  /// 65,536; default 256.
  public var callLimit = CallLimits.usual.calls
  /// The longest call or result in bytes. 65,536 to 1 GiB; default 4 MiB.
  public var sizeLimit = CallLimits.usual.frame
  /// The most bytes of arguments of one member's calls that are being served at once. A call beyond that is refused
  /// with `tooManyCalls`; its other calls, and those of other members, are not affected. At least `sizeLimit`; default
  /// 32 MiB.
  public var argumentLimit = CallLimits.arguments
  /// The most bytes of results above 16,384 bytes that wait until one member takes them. At least `sizeLimit`; default
  /// 32 MiB.
  ///
  /// While half of it waits, calls of that member are refused with `tooManyCalls`. If the result of a call that was
  /// already being served exceeds all of it, the caller gets `tooManyCalls` and the result is lost. If nothing else
  /// waits, the result may be longer.
  public var resultLimit = CallLimits.results
  /// How long a signal for all waits for a member that does not take it, such as one whose program reads nothing. More
  /// than 0 and at most a day. Default 30 s, which is more than a member is `suspended` by default.
  public var signalDeadline: Duration = .seconds(30)
  /// The description of this node's program that members get, such as its model: at most 64 pairs, a key of at most 127
  /// bytes and a value of at most 1,024.
  public var about: [String: String] = [:]

  /// Whether calls are served on the node's own thread, which saves two changes of threads for each. Methods of
  /// published objects must then not block, and whatever they await should prefer that thread as well. Default false.
  public var servesOnNodeThread = false

  /// Creates the defaults.
  public init() {}

  func validate() throws(RemoteCallError) {
    var rule: String?
    if deadline <= .zero || deadline > .milliseconds(Int64(CallLimits.milliseconds)) {
      rule = "a deadline is more than 0 and at most a day"
    } else if signalDeadline <= .zero || signalDeadline > .milliseconds(Int64(CallLimits.milliseconds)) {
      rule = "signalDeadline is more than 0 and at most a day"
    } else if !(CallLimits.least.calls...65_536).contains(callLimit) {
      rule = "callLimit is \(CallLimits.least.calls) to 65536"
    } else if !(CallLimits.least.frame...1 << 30).contains(sizeLimit) {
      rule = "sizeLimit is \(CallLimits.least.frame) to \(1 << 30)"
    } else if argumentLimit < sizeLimit {
      rule = "argumentLimit is at least sizeLimit, \(sizeLimit)"
    } else if resultLimit < sizeLimit {
      rule = "resultLimit is at least sizeLimit, \(sizeLimit)"
    } else if about.count > CallFrame.Hello.aboutLimit
      || about.contains(where: { $0.key.utf8.count > CallLimits.name || $0.value.utf8.count > CallLimits.text })
    {
      rule = "about has at most 64 pairs, of a key of at most 127 bytes and a value of at most 1024"
    }
    if let rule { throw RemoteCallError(.invalidArgument, detail: rule) }
  }
}

extension NodeConfiguration {
  /// Lets calls go before the program's other messages. Without it they take their turn. Call it before the node
  /// starts; channels 62 and 63 belong to `PiconetActorSystem`.
  public mutating func givePriorityToCalls() { channelPriorities[PiconetActorSystem.channel] = .high }
}

/// The time limit for calls that are made within a task.
public enum CallDeadline {
  /// Nil: the system's configuration applies.
  @TaskLocal static var current: Duration?

  /// Runs `body`, in which each call has this time limit instead of the configuration's.
  /// - Parameters:
  ///   - time: more than 0 and at most a day; other values are cut to these.
  ///   - isolation: where `body` runs.
  ///   - body: makes the calls.
  public static func within<Value>(
    _ time: Duration, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
  ) async rethrows -> Value {
    let time = max(.milliseconds(1), min(time, .milliseconds(Int64(CallLimits.milliseconds))))
    return try await $current.withValue(time, operation: body, isolation: isolation)
  }
}
