import PiconetEngine
import PiconetSDP

/// One dial over the places where a peer may listen: one after the other, since a radio pages one device at a time.
///
/// A place without a number is asked for it first. A busy place is tried again after a pause, and so is one that ends
/// the link at once: either happens while a previous connection is ending, or while both sides dial each other. A
/// stranded connect is also tried again: the device has dialled us meanwhile, and the kernel has forgotten our connect.
/// Each step has its share of the remaining time.
///
/// If a step's time is up although there is a link to its device, the dial gets more time, once: the device's system
/// may be asking its user whether we may connect.
///
/// A pure machine: facts with their times go in, effects come out. In whatever order facts come, there is exactly one
/// `finished`, and by then every step that was begun has ended on its own, was closed, or is the winner. Facts about
/// any other step have no effect.
public struct DialSequence: Sendable {
  public struct Configuration: Sendable, Hashable {
    /// How long the whole dial takes at most.
    public var timeLimit: Duration = .seconds(10)
    /// How long it takes at most if a device may be asking its user. Less than the 30 s that an invitation has by
    /// default, so that the inviter learns the reason.
    public var askingLimit: Duration = .seconds(25)
    /// The most places that are tried.
    public var placeLimit = 8
    /// The most numbers of one device that are tried.
    public var portLimit = 4
    /// How often, and after what pause, a busy place is tried again.
    public var busyRetries = 10
    /// How often a place that refuses is tried again, to be sure that it does.
    public var refusedRetries = 0
    /// A place that takes longer than this to refuse has asked its user, and is not tried again. Longer than paging
    /// takes (1.28 s).
    public var refusalTime: Duration = .seconds(2)
    public var busyPause: Duration = .milliseconds(100)
    /// How often to check whether a connect is stranded; nil: never. A connect found stranded twice is made again.
    public var checkPause: Duration?

    public init() {}
  }

  public enum Effect: Sendable, Hashable {
    /// Ask the device for its numbers.
    case lookUp(step: Int, BluetoothPlace)
    case open(step: Int, BluetoothPlace)
    /// Check whether it is stranded, and report `stranded` if it is.
    case check(step: Int)
    /// Close the step's socket, or cancel its look-up; its later reports are ignored.
    case close(step: Int)
    /// Close the step's socket, for a connect that will never be answered; its later reports are ignored.
    case drop(step: Int)
    case finished(Outcome)
  }

  public enum Outcome: Sendable, Hashable {
    case connected(step: Int)
    /// All reasons, in order.
    case failed([Loss])
    case cancelled
  }

  /// A failed part of the dial, with its reason.
  public struct Loss: Sendable, Hashable, CustomStringConvertible {
    public var subject: String
    public var failure: LinkFailure
    public var description: String {
      // A look-up's failure already names the device.
      let reason = failure.description
      return reason.hasPrefix(subject) ? reason : "\(subject): \(reason)"
    }

    public init(subject: String, failure: LinkFailure) {
      self.subject = subject
      self.failure = failure
    }
  }

  private enum Doing { case asking, opening, pausing }

  private struct Trial {
    var waiting: [BluetoothPlace]
    var losses: [Loss]
    let began: Instant
    var deadline: Instant
    var step = 0
    var place: BluetoothPlace?
    var doing = Doing.opening
    var stepBegan: Instant
    var stepDeadline: Instant
    var retries = 0
    var nextCheck: Instant?
    var wasStranded = false

    /// Returns the time that the present step has from now on; the waiting steps have their shares, too.
    func share(at now: Instant) -> Duration { (deadline - now) / (waiting.count + 1) }
  }

  private enum State {
    case idle
    case trying(Trial)
    case finished
  }

  private let configuration: Configuration
  private var state = State.idle

  public init(_ configuration: Configuration = Configuration()) { self.configuration = configuration }

  // MARK: Facts

  public mutating func start(_ places: [BluetoothPlace], losses: [Loss] = [], at now: Instant) -> [Effect] {
    guard case .idle = state else { return [] }
    var unique: [BluetoothPlace] = []
    for place in places where unique.count < configuration.placeLimit && !unique.contains(place) {
      unique.append(place)
    }
    let deadline = now + configuration.timeLimit
    return next(
      Trial(waiting: unique, losses: losses, began: now, deadline: deadline, stepBegan: now, stepDeadline: deadline),
      at: now)
  }

  /// Notes the numbers of the device that was asked.
  public mutating func found(_ step: Int, _ ports: [UInt16], at now: Instant) -> [Effect] {
    guard case .trying(var trial) = state, trial.step == step, trial.doing == .asking, let place = trial.place
    else { return [] }
    let places = ports.prefix(configuration.portLimit).map { port in
      var found = place
      found.port = port
      return found
    }
    if places.isEmpty { trial.losses.append(Loss(subject: place.description, failure: LinkFailure(.noService))) }
    trial.waiting = places + trial.waiting
    return next(trial, at: now)
  }

  public mutating func connected(_ step: Int) -> [Effect] {
    guard case .trying(let trial) = state, trial.step == step, trial.doing == .opening else { return [] }
    state = .finished
    return [.finished(.connected(step: step))]
  }

  /// Notes that the step has ended on its own.
  public mutating func failed(_ step: Int, _ failure: LinkFailure, at now: Instant) -> [Effect] {
    guard case .trying(var trial) = state, trial.step == step, trial.doing != .pausing, let place = trial.place
    else { return [] }
    let resumes = now + configuration.busyPause
    let retries =
      switch failure.code {
      case .busy, .connectionLimit, .reset: configuration.busyRetries
      case .refused: now - trial.stepBegan < configuration.refusalTime ? configuration.refusedRetries : 0
      case .unreachable, .timedOut, .noService, .hostDown, .authentication, .permission, .notAvailable, .cancelled,
        .tooManyDescriptors, .other:
        0
      }
    if trial.retries < retries, resumes < trial.stepDeadline {
      trial.retries += 1
      trial.doing = .pausing
      trial.nextCheck = nil
      trial.stepDeadline = resumes
      state = .trying(trial)
      return []
    }
    trial.losses.append(Loss(subject: place.description, failure: failure))
    return next(trial, at: now)
  }

  /// Answers `check`: the step's connect will never be answered.
  public mutating func stranded(_ step: Int, at now: Instant) -> [Effect] {
    guard case .trying(var trial) = state, trial.step == step, trial.doing == .opening else { return [] }
    if trial.wasStranded {
      trial.doing = .pausing
      trial.stepDeadline = min(now + configuration.busyPause, trial.stepDeadline)
      trial.nextCheck = nil
      state = .trying(trial)
      return [.drop(step: step)]
    }
    trial.wasStranded = true
    state = .trying(trial)
    return []
  }

  /// Notes that time has passed, usually up to `nextDeadline`; no effect if it is too early.
  /// - Parameter mayAsk: whether there is a link to the step's device, whose system may be asking its user.
  public mutating func deadlineReached(at now: Instant, mayAsk: Bool = false) -> [Effect] {
    guard case .trying(var trial) = state, let place = trial.place else { return [] }
    if now < trial.stepDeadline {
      guard let check = trial.nextCheck, let pause = configuration.checkPause, now >= check else { return [] }
      trial.nextCheck = now + pause
      state = .trying(trial)
      return [.check(step: trial.step)]
    }
    if trial.doing == .pausing {
      trial.waiting.insert(place, at: 0)
      return next(trial, retries: trial.retries, at: now)
    }
    let mayAsk = mayAsk && trial.doing == .opening
    let askingDeadline = trial.began + configuration.askingLimit
    if mayAsk, trial.deadline < askingDeadline, now < askingDeadline {
      trial.deadline = askingDeadline
      trial.stepDeadline = now + trial.share(at: now)
      state = .trying(trial)
      return []
    }
    let words =
      trial.doing == .asking
      ? "the device did not say where it listens"
      : mayAsk ? "no answer; the other machine may be asking its user to allow the connection" : "no answer"
    trial.losses.append(Loss(subject: place.description, failure: LinkFailure(.timedOut, words)))
    return [.close(step: trial.step)] + next(trial, at: now)
  }

  /// Cancels the dial since the link is no longer wanted. No effect after the finish.
  public mutating func cancel() -> [Effect] {
    defer { state = .finished }
    switch state {
    case .finished: return []
    case .idle: return [.finished(.cancelled)]
    case .trying(let trial):
      return (trial.doing == .pausing ? [] : [.close(step: trial.step)]) + [.finished(.cancelled)]
    }
  }

  /// When `deadlineReached` is due; nil when nothing waits for time.
  public var nextDeadline: Instant? {
    guard case .trying(let trial) = state else { return nil }
    return trial.nextCheck.map { min($0, trial.stepDeadline) } ?? trial.stepDeadline
  }

  // MARK: The rules

  /// Continues with the next place, or ends: the only code where steps begin and where the dial fails.
  private mutating func next(_ before: Trial, retries: Int = 0, at now: Instant) -> [Effect] {
    var trial = before
    if now >= trial.deadline {
      trial.losses += trial.waiting.map {
        Loss(subject: $0.description, failure: LinkFailure(.timedOut, "not tried in time"))
      }
      trial.waiting = []
    }
    guard !trial.waiting.isEmpty else {
      state = .finished
      return [.finished(.failed(trial.losses))]
    }
    let place = trial.waiting.removeFirst()
    trial.step += 1
    trial.place = place
    trial.retries = retries
    trial.doing = place.port == nil ? .asking : .opening
    trial.wasStranded = false
    trial.nextCheck = trial.doing == .opening ? configuration.checkPause.map { now + $0 } : nil
    trial.stepBegan = now
    trial.stepDeadline = now + trial.share(at: now)
    state = .trying(trial)
    return [place.port == nil ? .lookUp(step: trial.step, place) : .open(step: trial.step, place)]
  }
}
