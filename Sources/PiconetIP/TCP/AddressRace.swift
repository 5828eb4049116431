import PiconetEngine

/// The race of one dial over all addresses of a peer (Happy Eyeballs version 2, RFC 8305, sections 4 and 5).
///
/// Addresses are tried in the order in which they come, which is their source's order of preference, but the families
/// take turns, beginning with that of the first address. The next attempt starts when the previous one has failed, or
/// after the attempt delay, while that goes on. The first that connects wins and the others are closed.
///
/// A pure machine: facts with their time go in, effects come out. In whatever order facts come, there is exactly one
/// `finished`, and by then every attempt that was opened has failed, was closed, or is the winner. Whatever comes after
/// `finished` has no effect.
public struct AddressRace: Sendable {
  public struct Configuration: Sendable, Hashable {
    /// How long an attempt runs before the next one starts. RFC 8305: 250 ms recommended, 100 ms at least, 2 s at most.
    public var attemptDelay: Duration = .milliseconds(250)
    /// How long the whole race may take, including name look-ups.
    public var timeLimit: Duration = .seconds(10)
    /// The most addresses that are tried; any beyond these are dropped. Bounds the descriptors of one dial.
    public var addressLimit = 16

    public init() {}
  }

  public enum Effect: Sendable, Hashable {
    case open(attempt: Int, SocketAddress)
    /// Close the attempt's socket; its later reports are ignored.
    case close(attempt: Int)
    case finished(Outcome)
  }

  public enum Outcome: Sendable, Hashable {
    case connected(attempt: Int)
    /// All reasons, in order.
    case failed([Loss])
    case cancelled
  }

  /// A failed part of the dial, with its reason.
  public struct Loss: Sendable, Hashable, CustomStringConvertible {
    /// An address or a host name.
    public var subject: String
    public var failure: LinkFailure
    public var description: String { "\(subject): \(failure)" }

    public init(subject: String, failure: LinkFailure) {
      self.subject = subject
      self.failure = failure
    }
  }

  private struct Race {
    var waiting: [SocketAddress] = []
    var known: Set<SocketAddress> = []
    var unresolved: Int
    /// The open attempts by number; in the order of opening.
    var open: [(attempt: Int, address: SocketAddress)] = []
    var nextAttempt = 0
    var isIPv6Next: Bool?
    var mayOpenAt: Instant
    let deadline: Instant
    var losses: [Loss] = []
  }

  private enum State {
    case idle
    case racing(Race)
    case finished
  }

  private let configuration: Configuration
  private var state = State.idle

  public init(_ configuration: Configuration = Configuration()) { self.configuration = configuration }

  // MARK: Facts

  /// Starts the race with the known addresses. `unresolved` host names are being looked up meanwhile: for each,
  /// `resolved` or `resolutionFailed` follows.
  public mutating func start(
    _ addresses: [SocketAddress], losses: [Loss] = [], unresolved: Int = 0, at now: Instant
  ) -> [Effect] {
    guard case .idle = state else { return [] }
    var race = Race(unresolved: unresolved, mayOpenAt: now, deadline: now + configuration.timeLimit)
    race.losses = losses
    add(addresses, to: &race)
    return proceed(race, at: now)
  }

  /// Notes that one host name resolved to addresses.
  public mutating func resolved(_ addresses: [SocketAddress], at now: Instant) -> [Effect] {
    guard case .racing(var race) = state, race.unresolved > 0 else { return [] }
    race.unresolved -= 1
    add(addresses, to: &race)
    return proceed(race, at: now)
  }

  /// Notes that one host name did not resolve.
  public mutating func resolutionFailed(_ loss: Loss, at now: Instant) -> [Effect] {
    guard case .racing(var race) = state, race.unresolved > 0 else { return [] }
    race.unresolved -= 1
    race.losses.append(loss)
    return proceed(race, at: now)
  }

  /// Notes that an attempt has connected. No effect if it is late, or the attempt is not open. (A closed socket reports
  /// nothing anyway.)
  public mutating func connected(_ attempt: Int, at now: Instant) -> [Effect] {
    guard case .racing(let race) = state, race.open.contains(where: { $0.attempt == attempt }) else { return [] }
    state = .finished
    return race.open.filter { $0.attempt != attempt }.map { .close(attempt: $0.attempt) }
      + [.finished(.connected(attempt: attempt))]
  }

  /// Notes that an attempt has failed. No effect if it is late, or the attempt is not open.
  public mutating func failed(_ attempt: Int, _ failure: LinkFailure, at now: Instant) -> [Effect] {
    guard case .racing(var race) = state, let index = race.open.firstIndex(where: { $0.attempt == attempt })
    else { return [] }
    race.losses.append(Loss(subject: race.open.remove(at: index).address.description, failure: failure))
    // RFC 8305, section 5: the next attempt need not wait for one that has failed, only for one that is still going on.
    if race.open.isEmpty || attempt == race.nextAttempt - 1 { race.mayOpenAt = now }
    return proceed(race, at: now)
  }

  /// Notes that time has passed, usually up to `nextDeadline`; no effect if it is too early.
  public mutating func deadlineReached(at now: Instant) -> [Effect] {
    guard case .racing(let race) = state else { return [] }
    return proceed(race, at: now)
  }

  /// Cancels the race since the link is no longer wanted. No effect after the finish.
  public mutating func cancel() -> [Effect] {
    switch state {
    case .finished: return []
    case .idle:
      state = .finished
      return [.finished(.cancelled)]
    case .racing(let race):
      state = .finished
      return race.open.map { .close(attempt: $0.attempt) } + [.finished(.cancelled)]
    }
  }

  /// When `deadlineReached` is due; nil when the race does not wait for time.
  public var nextDeadline: Instant? {
    guard case .racing(let race) = state else { return nil }
    return race.waiting.isEmpty ? race.deadline : min(race.deadline, race.mayOpenAt)
  }

  // MARK: The rules

  private func add(_ addresses: [SocketAddress], to race: inout Race) {
    for address in addresses where race.known.count < configuration.addressLimit {
      guard race.known.insert(address).inserted else { continue }
      if let failure = address.undialable {
        race.losses.append(Loss(subject: address.description, failure: failure))
      } else {
        race.waiting.append(address)
      }
    }
  }

  /// Takes the steps that the present state of the race requires: the only code where it fails and where attempts
  /// begin.
  private mutating func proceed(_ before: Race, at now: Instant) -> [Effect] {
    var race = before
    if now >= race.deadline {
      state = .finished
      let slow = race.open.map { Loss(subject: $0.address.description, failure: LinkFailure(.timedOut)) }
      let untried = race.waiting.map {
        Loss(subject: $0.description, failure: LinkFailure(.timedOut, "not tried in time"))
      }
      let names =
        race.unresolved > 0
        ? [Loss(subject: "name look-up", failure: LinkFailure(.timedOut))] : []
      return race.open.map { .close(attempt: $0.attempt) }
        + [.finished(.failed(race.losses + slow + untried + names))]
    }
    var effects: [Effect] = []
    if !race.waiting.isEmpty && now >= race.mayOpenAt {
      let address = takeNext(from: &race)
      effects.append(.open(attempt: race.nextAttempt, address))
      race.open.append((race.nextAttempt, address))
      race.nextAttempt += 1
      race.mayOpenAt = now + configuration.attemptDelay
    }
    if race.open.isEmpty && race.waiting.isEmpty && race.unresolved == 0 {
      state = .finished
      return effects + [.finished(.failed(race.losses))]
    }
    state = .racing(race)
    return effects
  }

  /// Returns the first address of the family whose turn it is, or the first of all. Only called if there is an address.
  private func takeNext(from race: inout Race) -> SocketAddress {
    let index = race.waiting.firstIndex { $0.isIPv6 == race.isIPv6Next } ?? 0
    let address = race.waiting.remove(at: index)
    race.isIPv6Next = !address.isIPv6
    return address
  }
}
