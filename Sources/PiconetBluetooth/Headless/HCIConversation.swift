import PiconetEngine
import PiconetSDP

/// Commands to a controller, one after the other, and the matching of answers to commands. A pure machine.
///
/// Answers identify only the command's opcode. So a command that has timed out leaves a debt: the next answer with this
/// opcode is taken for its late answer, until enough time has passed that none can come any more.
struct HCIConversation: Sendable {
  /// Identifies one command; never used twice.
  struct Ticket: Hashable, Sendable { var number: UInt64 }

  enum Effect: Hashable, Sendable {
    case write(Ticket, HCICommand)
    /// The parameters after the status, or the status if it is not 0; nil: no answer in time.
    case answered(Ticket, HCICommand, status: UInt8?, parameters: [UInt8])
  }

  /// The most commands that may wait.
  static let queueLimit = 64
  /// How long a controller may take for a command.
  static let commandLimit = Duration.seconds(3)
  /// How long after that an answer may still come: the kernel itself gives a command up after two seconds.
  static let debtLimit = Duration.seconds(10)
  /// The most late answers that are tracked.
  static let debtCount = 16

  private struct Waiting: Sendable {
    var ticket: Ticket
    var command: HCICommand
  }

  private var queue: [Waiting] = []
  private var underWay: (waiting: Waiting, deadline: Instant)?
  private var debts: [(opcode: UInt16, until: Instant)] = []
  private var lastTicket: UInt64 = 0

  /// When `deadlineReached` is due.
  var nextDeadline: Instant? { underWay?.deadline }

  /// Submits a command; nil: too many wait.
  mutating func add(_ command: HCICommand, at now: Instant) -> (ticket: Ticket, effects: [Effect])? {
    guard queue.count < Self.queueLimit else { return nil }
    lastTicket += 1
    let ticket = Ticket(number: lastTicket)
    queue.append(Waiting(ticket: ticket, command: command))
    return (ticket, next(at: now))
  }

  /// Notes that the controller has answered a command, perhaps another program's.
  mutating func heard(opcode: UInt16, status: UInt8, parameters: [UInt8], at now: Instant) -> [Effect] {
    debts.removeAll { $0.until <= now }
    if let debt = debts.firstIndex(where: { $0.opcode == opcode }) {
      debts.remove(at: debt)
      return []
    }
    guard let (waiting, _) = underWay, waiting.command.opcode == opcode else { return [] }
    return answered(waiting, status: status, parameters: parameters, at: now)
  }

  /// Notes that the command could not be written, so no answer to it will come.
  mutating func notWritten(_ ticket: Ticket, at now: Instant) -> [Effect] {
    guard let (waiting, _) = underWay, waiting.ticket == ticket else { return [] }
    return answered(waiting, status: nil, parameters: [], at: now)
  }

  /// Notes that time has passed; no effect before the deadline.
  mutating func deadlineReached(at now: Instant) -> [Effect] {
    guard let (waiting, deadline) = underWay, deadline <= now else { return [] }
    if debts.count < Self.debtCount { debts.append((waiting.command.opcode, now + Self.debtLimit)) }
    return answered(waiting, status: nil, parameters: [], at: now)
  }

  private mutating func answered(
    _ waiting: Waiting, status: UInt8?, parameters: [UInt8], at now: Instant
  ) -> [Effect] {
    underWay = nil
    return next(at: now) + [.answered(waiting.ticket, waiting.command, status: status, parameters: parameters)]
  }

  private mutating func next(at now: Instant) -> [Effect] {
    guard underWay == nil, !queue.isEmpty else { return [] }
    let waiting = queue.removeFirst()
    underWay = (waiting, now + Self.commandLimit)
    return [.write(waiting.ticket, waiting.command)]
  }
}
