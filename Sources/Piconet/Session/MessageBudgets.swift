import PiconetEngine
import PiconetWire
import Synchronization

/// The limits of what may be queued to one member, in each channel separately: a channel whose messages wait for the
/// member holds up none of the others.
final class MessageBudgets: Sendable {
  private struct Others {
    /// A list, since there are few budgets and each message looks for one: comparing channels costs less than hashing
    /// them.
    var budgets: [(channel: MessageChannel, budget: SendBudget)] = []
    var ending: PiconetError?
  }

  /// The budget of channel 0.
  let first: SendBudget
  private let limit: Int
  private let others = Mutex(Others())

  /// - Parameter limit: the limit of each channel.
  init(limit: Int) {
    self.limit = limit
    first = SendBudget(limit: limit)
  }

  subscript(_ channel: MessageChannel) -> SendBudget {
    if channel == 0 { return first }
    return others.withLock { others in
      for known in others.budgets where known.channel == channel { return known.budget }
      let budget = SendBudget(limit: limit)
      if let ending = others.ending { budget.end(ending) }
      others.budgets.append((channel, budget))
      return budget
    }
  }

  /// Ends all budgets since the member is gone: tasks that wait or come later get the reason.
  func end(_ ending: PiconetError) {
    first.end(ending)
    let begun = others.withLock { others in
      others.ending = others.ending ?? ending
      return others.budgets.map(\.budget)
    }
    for budget in begun { budget.end(ending) }
  }

  var ending: PiconetError? { first.ending }

  /// Unreliable messages that were dropped before they reached the loop; they have no channel.
  var droppedCount: UInt64 { first.droppedCount }
}
