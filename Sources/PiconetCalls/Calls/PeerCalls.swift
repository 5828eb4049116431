/// The calls between this node and one member, in both directions, from when it becomes a member until it leaves. It
/// keeps which callers wait for which answers until when, which calls of the member are being served, and the results
/// of both.
///
/// Frames and times go in, effects come out. Times count from any one moment. A call is sent once, so it is served at
/// most once; it is settled exactly once.
public struct PeerCalls: Sendable {
  /// Something to be done, in order.
  public enum Effect: Hashable, Sendable {
    /// A frame for the member. A frame about a call goes in the same channel as the call, and so stays behind it.
    case send([UInt8], isLong: Bool = false)
    /// The answer to our call.
    case settle(UInt64, Answer)
    /// Our call that has waited for the greeting, to be sent now.
    case call(UInt64, [UInt8])
    /// A call of the member, to be served; `finished` takes its answer.
    case serve(CallFrame.Call)
    /// The caller no longer waits for this call: the task that serves it is to be cancelled.
    case stop(UInt64)
    /// The caller no longer waits for this answer: the part that has not left need not be sent.
    case withdraw(UInt64)
    /// A call of the member that is not served, with the reason; its caller is told.
    case refused(CallFrame.Call, CallFailure)
    /// The member has greeted: for the first time, or with another system.
    case greeted(CallFrame.Hello)
    /// A frame that is not about calls.
    case passed(CallFrame)
    /// The member takes and makes no more calls.
    case closed(CallFailure)
  }

  /// The result of our call.
  public enum Answer: Hashable, Sendable {
    /// One item.
    case value(ArraySlice<UInt8>)
    case failed(CallFailure)
  }

  /// The reply to a member whose call was served.
  public struct Reply: Hashable, Sendable {
    public let frame: [UInt8]
    /// Why the frame does not hold the task's result; nil: it does.
    public let failure: CallFailure?
  }

  private struct Made: Sendable {
    let deadline: Duration
    /// Whether it has gone in the channel for long frames.
    let isLong: Bool
    /// The frame while it waits for the greeting, which says whether the member takes it; nil: it was sent.
    var unsent: [UInt8]?
  }

  private struct Served: Sendable {
    let deadline: Duration
    /// The size of its arguments, which are kept until its task ends.
    let bytes: Int
    /// Why its caller has its answer already, or no longer wants one: the task's result comes too late. Nil: it is
    /// wanted.
    var ending: CallFailure?

    var isOver: Bool { ending != nil }
  }

  public let own: CallLimits
  /// The most bytes of arguments of calls that are being served.
  public let argumentLimit: Int
  /// The most bytes of long results that wait for the member to take them.
  public let resultLimit: Int
  /// The bytes of long results that wait, as `resultsWait` has said.
  private var waitingResults = 0
  /// The limits of the member.
  public private(set) var limits = CallLimits.least
  /// The system of the member that we talk to; nil until it has greeted.
  public private(set) var instance: UInt64?
  private let greeting: CallFrame.Hello
  private var made: [UInt64: Made] = [:]
  private var served: [UInt64: Served] = [:]
  /// The bytes of the arguments of all calls that are being served.
  public private(set) var servedBytes = 0
  private var greetings = GreetingAllowance()
  /// One for each channel, that of long frames second.
  private var assemblies = [PartAssembly(), PartAssembly()]
  private var addresses = CallAddresses()
  /// Why there are no more calls.
  private var ending: CallFailure?

  /// - Parameters:
  ///   - instance: the instance of this node's system.
  ///   - own: the limits of this node.
  ///   - argumentLimit: the most bytes of arguments of calls that are being served.
  ///   - resultLimit: the most bytes of long results that wait for the member to take them.
  ///   - about: this node's description of itself.
  public init(
    instance: UInt64, own: CallLimits, argumentLimit: Int = CallLimits.arguments,
    resultLimit: Int = CallLimits.results, about: [CallFrame.Hello.About] = []
  ) {
    self.own = own
    self.argumentLimit = argumentLimit
    self.resultLimit = resultLimit
    greeting = CallFrame.Hello(instance: instance, limits: own, asks: true, about: about)
  }

  /// The first frame to the member.
  public var hello: [UInt8] { CallFrame.hello(greeting).encoded }

  /// The number of our calls without an answer.
  public var outgoingCount: Int { made.count }

  /// The number of the member's calls whose tasks have not ended.
  public var servedCount: Int { served.count }

  // MARK: Our calls

  /// Begins a call. If not every member takes it, it waits until the member has greeted.
  /// - Parameters:
  ///   - frame: the call, encoded.
  ///   - number: the number of the frame; not used before.
  /// - Returns: whether it is to be sent now.
  /// - Throws: why it can't be made; nothing is to be sent then.
  @discardableResult
  public mutating func begin(
    _ number: UInt64, _ frame: [UInt8], until deadline: Duration
  ) throws(CallFailure) -> Bool {
    if let ending { throw ending }
    if instance == nil, made.count >= limits.calls || frame.count > limits.frame, made.count < own.calls,
      frame.count <= own.frame
    {
      made[number] = Made(deadline: deadline, isLong: Self.isLong(frame), unsent: frame)
      return false
    }
    guard made.count < limits.calls else { throw tooMany }
    guard frame.count <= limits.frame else { throw tooLarge(frame) }
    made[number] = Made(deadline: deadline, isLong: Self.isLong(frame))
    return true
  }

  /// Handles the calls that have waited for the member's greeting: they are sent, or end if the member does not take
  /// them.
  private mutating func sendUnsent() -> [Effect] {
    var effects: [Effect] = []
    var count = made.values.count { $0.unsent == nil }
    for (number, call) in made.sorted(by: { $0.key < $1.key }) {
      guard let frame = call.unsent else { continue }
      let failure: CallFailure? =
        if frame.count > limits.frame { tooLarge(frame) } else if count >= limits.calls { tooMany } else { nil }
      if let failure {
        made[number] = nil
        effects.append(.settle(number, .failed(failure)))
      } else {
        made[number]?.unsent = nil
        count += 1
        effects.append(.call(number, frame))
      }
    }
    return effects
  }

  private var tooMany: CallFailure {
    CallFailure(.tooManyCalls, "\(limits.calls) calls to the device have no answer; it takes no more at once")
  }

  private func tooLarge(_ frame: [UInt8]) -> CallFailure {
    CallFailure(.tooLarge, "\(frame.count) bytes of call; the device takes \(limits.frame)")
  }

  /// Cancels a call because its caller no longer waits: the member is told, if it has not answered already.
  public mutating func cancel(_ number: UInt64) -> [Effect] {
    guard let call = made.removeValue(forKey: number) else { return [] }
    return takeBack(number, call) + [
      .settle(number, .failed(CallFailure(.cancelled, "the calling task was cancelled")))
    ]
  }

  /// Tells the member that a call is cancelled, if it was sent.
  private func takeBack(_ number: UInt64, _ call: Made) -> [Effect] {
    call.unsent == nil ? [.send(CallFrame.cancel(number: number).encoded, isLong: call.isLong)] : []
  }

  /// Returns whether a frame goes in the channel for long ones.
  public static func isLong(_ frame: [UInt8]) -> Bool { frame.count > CallLimits.whole }

  // MARK: Calls of the member

  /// Returns whether the answer of a call that is being served is wanted; nil if its task has ended.
  public func isWanted(_ number: UInt64) -> Bool? { served[number].map { !$0.isOver } }

  /// Returns why the answer of a call that is being served is no longer wanted; nil: it is wanted, or its task has
  /// ended.
  public func ending(of number: UInt64) -> CallFailure? { served[number]?.ending }

  /// Notes how many bytes of long results have not left yet, since the member does not take them. Above half of the
  /// limit calls are refused, and a result that would exceed all of it is dropped.
  public mutating func resultsWait(_ bytes: Int) { waitingResults = bytes }

  /// Notes that the task that has served a call has ended.
  /// - Returns: its answer, to be sent; nil if it is no longer wanted.
  public mutating func finished(_ number: UInt64, with answer: Answer) -> Reply? {
    guard let served = served.removeValue(forKey: number) else { return nil }
    servedBytes -= served.bytes
    guard !served.isOver, ending == nil else { return nil }
    let frame = Self.frame(number, answer)
    guard let failure = refusal(ofAnswer: frame.count, isLong: Self.isLong(frame)) else {
      return Reply(frame: frame, failure: nil)
    }
    return Reply(frame: Self.frame(number, .failed(failure)), failure: failure)
  }

  /// Returns why an answer is not sent; nil: it is sent.
  private func refusal(ofAnswer count: Int, isLong: Bool) -> CallFailure? {
    if count > limits.frame {
      return CallFailure(.tooLarge, "\(count) bytes of result; the caller takes \(limits.frame)")
    }
    // A single result may exceed the limit: the caller has said that it takes as much.
    guard isLong, waitingResults > 0, waitingResults + count > resultLimit else { return nil }
    return CallFailure(
      .tooManyCalls,
      "it was served, and its result of \(count) bytes is lost: \(waitingResults) bytes of results wait for the caller, "
        + "and \(resultLimit) may")
  }

  private static func frame(_ number: UInt64, _ answer: Answer) -> [UInt8] {
    switch answer {
    case .value(let value): CallFrame.result(number: number, value: value).encoded
    case .failed(let failure): CallFrame.failure(number: number, failure).encoded
    }
  }

  // MARK: Frames

  /// Takes a message of the member.
  /// - Parameter isLong: whether it came in the channel for long frames.
  public mutating func received(_ bytes: ArraySlice<UInt8>, at now: Duration, isLong: Bool = false) -> [Effect] {
    if let ending, ending.code != .shuttingDown { return [] }
    guard bytes.count <= own.frame else {
      return broken(CBORError(.limit, "a frame of \(bytes.count) bytes; the limit is \(own.frame)"))
    }
    do throws(CBORError) {
      return try take(try CallFrame(decoding: bytes, &addresses), at: now, isLong: isLong)
    } catch {
      return broken(error)
    }
  }

  private mutating func take(_ frame: CallFrame, at now: Duration, isLong: Bool) throws(CBORError) -> [Effect] {
    switch frame {
    case .hello(let hello): return try greeted(hello, at: now)
    // A frame behind a goodbye was sent before the system that follows it has greeted.
    case _ where ending != nil: return []
    case .goodbye(let code, let text): return end(CallFailure(code, text))
    case .call(let call): return try admit(call, at: now)
    case .result(let number, let value): return settle(number, .value(value))
    case .failure(let number, let failure): return settle(number, .failed(failure))
    case .cancel(let number): return stop(number)
    case .begin(let id, let total, let part):
      guard let whole = try assemblies[isLong ? 1 : 0].begin(id, total: total, part, limit: own.frame) else {
        return []
      }
      return try takeWhole(whole, at: now)
    case .next(let id, let part):
      guard let whole = try assemblies[isLong ? 1 : 0].next(id, part) else { return [] }
      return try takeWhole(whole, at: now)
    case .signal, .claim, .release, .heard, .refused: return [.passed(frame)]
    case .unknown: return []
    }
  }

  private mutating func takeWhole(_ bytes: [UInt8], at now: Duration) throws(CBORError) -> [Effect] {
    let frame = try CallFrame(decoding: bytes[...], &addresses)
    switch frame {
    case .begin, .next: throw CBORError(.malformed, "parts within parts")
    case .hello, .goodbye, .call, .result, .failure, .cancel, .signal, .claim, .release, .heard, .refused, .unknown:
      return try take(frame, at: now, isLong: false)
    }
  }

  private mutating func greeted(_ hello: CallFrame.Hello, at now: Duration) throws(CBORError) -> [Effect] {
    // Each greeting may come from another system; the program is told of it, and it is told all names and values.
    guard greetings.take(at: now) else {
      throw CBORError(.limit, "more than \(GreetingAllowance.most) greetings, and more than one a second")
    }
    var effects: [Effect] = []
    // A later version greets in its own version, and speaks the lower of both.
    guard hello.version >= 1 else {
      return broken(CBORError(.malformed, "version 0 of the format"))
    }
    if let instance, instance != hello.instance {
      effects += end(CallFailure(.restarted, "the device serves other objects now"))
    }
    let isKnown = ending == nil && instance == hello.instance
    // If another system was there before, `end` has given up what had begun. Parts in the other channel may come before
    // the first greeting.
    ending = nil
    instance = hello.instance
    limits = hello.limits
    if hello.asks {
      var answer = greeting
      answer.asks = false
      effects.append(.send(CallFrame.hello(answer).encoded))
    }
    return isKnown ? effects : effects + [.greeted(hello)] + sendUnsent()
  }

  private mutating func admit(_ call: CallFrame.Call, at now: Duration) throws(CBORError) -> [Effect] {
    if let failure = refusal(of: call) {
      if served[call.number] != nil { throw CBORError(.malformed, "a number that another call has") }
      return [.send(Self.frame(call.number, .failed(failure))), .refused(call, failure)]
    }
    let bytes = call.arguments.count
    // A broken rule ends all calls, so the former one need not be put back.
    let former = served.updateValue(
      Served(deadline: now + .milliseconds(Int64(call.milliseconds)), bytes: bytes), forKey: call.number)
    if let former {
      servedBytes -= former.bytes
      servedBytes += bytes
      throw CBORError(.malformed, "a number that another call has")
    }
    servedBytes += bytes
    // A few arguments are a slice of the bytes that were read with them. For many calls that would keep far more than
    // is counted.
    guard served.count > Self.slicedCalls, bytes <= CallLimits.whole else { return [.serve(call)] }
    var copied = call
    copied.arguments = Array(call.arguments)[...]
    return [.serve(copied)]
  }

  /// The number of calls whose arguments may keep the bytes that were read with them.
  private static let slicedCalls = 16

  /// Returns why a call exceeds this node's limits; nil: it does not.
  private func refusal(of call: CallFrame.Call) -> CallFailure? {
    guard served.count < own.calls else {
      return CallFailure(.tooManyCalls, "\(own.calls) calls have no answer; no more are taken at once")
    }
    let bytes = servedBytes + call.arguments.count
    guard bytes <= argumentLimit else {
      return CallFailure(
        .tooManyCalls,
        "with this one, calls of \(bytes) bytes of arguments have no answer; \(argumentLimit) are taken at once")
    }
    // The other half is for results of calls that are being served, so that their work is not lost.
    guard waitingResults <= resultLimit / 2 else {
      return CallFailure(
        .tooManyCalls,
        "\(waitingResults) bytes of results wait for the caller; above half of \(resultLimit) no call is served")
    }
    return nil
  }

  /// Ignores an answer to a call that has already ended. The two crossed on the wire.
  private mutating func settle(_ number: UInt64, _ answer: Answer) -> [Effect] {
    made.removeValue(forKey: number) == nil ? [] : [.settle(number, answer)]
  }

  private mutating func stop(_ number: UInt64) -> [Effect] {
    guard var call = served[number] else { return [.withdraw(number)] }
    if call.isOver { return [] }
    call.ending = CallFailure(.cancelled, "the caller has taken it back")
    served[number] = call
    return [.stop(number)]
  }

  private mutating func broken(_ error: CBORError) -> [Effect] {
    let failure = CallFailure(.protocolBroken, error.detail)
    return [.send(CallFrame.goodbye(failure.code, failure.text).encoded)] + end(failure)
  }

  // MARK: Time and endings

  /// When `expired` has something to do; nil: never.
  public var nextDeadline: Duration? {
    let own = made.values.lazy.map(\.deadline).min()
    let theirs = served.values.lazy.filter { !$0.isOver }.map(\.deadline).min()
    return [own, theirs].compactMap { $0 }.min()
  }

  /// Ends the calls whose deadlines have passed.
  public mutating func expired(at now: Duration) -> [Effect] {
    var effects: [Effect] = []
    for (number, call) in made.sorted(by: { $0.key < $1.key }) where call.deadline <= now {
      made[number] = nil
      effects += takeBack(number, call)
      effects.append(.settle(number, .failed(CallFailure(.timedOut, "no answer in time"))))
    }
    for (number, var call) in served.sorted(by: { $0.key < $1.key }) where call.deadline <= now && !call.isOver {
      let failure = CallFailure(.timedOut, "the call has taken longer than its caller waits")
      call.ending = failure
      served[number] = call
      effects.append(.send(Self.frame(number, .failed(failure))))
      effects.append(.stop(number))
    }
    return effects
  }

  /// Ends calls in both directions: the member has left, it has said goodbye, or our own system stops.
  public mutating func end(_ failure: CallFailure) -> [Effect] {
    if ending != nil { return [] }
    ending = failure
    assemblies = [PartAssembly(), PartAssembly()]
    var effects = made.keys.sorted().map { Effect.settle($0, .failed(failure)) }
    made = [:]
    for (number, var call) in served.sorted(by: { $0.key < $1.key }) where !call.isOver {
      call.ending = failure
      served[number] = call
      effects.append(.stop(number))
    }
    return effects + [.closed(failure)]
  }
}

/// The rate limiter of a member's greetings: one when it comes, one when it answers ours, and one for each system that
/// it makes anew.
struct GreetingAllowance: Sendable {
  /// The burst; one more each second.
  static let most = 32

  private var left = Self.most
  private var filled = Duration.zero

  mutating func take(at now: Duration) -> Bool {
    let seconds = max(0, (now - filled).components.seconds)
    left = Int(min(Int64(Self.most), Int64(left) + min(seconds, Int64(Self.most))))
    filled += .seconds(seconds)
    guard left > 0 else { return false }
    left -= 1
    return true
  }
}
