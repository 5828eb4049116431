import CPiconetSystem
import Glibc
import Synchronization

/// A dialog about peers with the person at the terminal: a list that changes while it is shown, and questions of peers
/// below it. Any thread may change it, before and while it runs; it runs once. A process shows one dialog at a time:
/// the next one begins when that has ended.
public final class PeerDialog: Sendable {
  /// Why the dialog is over.
  @nonexhaustive
  public enum Ending: Hashable, Sendable {
    /// These peers were picked, at least one; not of a list that stays open.
    case picked(ids: [String])
    /// The person has finished.
    case finished
    /// The person has cancelled.
    case quit
    /// Ctrl-C: the program should end as SIGINT would end it.
    case interrupted
    /// By `close`, or because the calling task was cancelled.
    case closed
    /// No dialog is possible: there is no terminal, or it fails, or is in use otherwise. With the errno.
    case failed(Int32)
  }

  private let picker: PeerPicker
  private let updates: PeerListUpdates

  /// A dialog that is not shown yet; nil if no descriptor is available.
  public init?(_ picker: PeerPicker) {
    guard let updates = PeerListUpdates() else { return nil }
    self.picker = picker
    self.updates = updates
  }

  /// Whether a person can be asked: standard input and standard error are a terminal, and can be redrawn.
  public static var isPossible: Bool { PeerPickerTerminal.isPossible }

  /// Adds a row, or changes the one of the same id, which reappears if it had gone.
  public func show(_ peer: PeerPicker.Peer) { updates.post(.appeared(peer)) }

  /// Notes that the peer has gone: its row stays, greyed out.
  public func peerHasGone(id: String) { updates.post(.vanished(id: id)) }

  /// Asks the person, after the open questions. The answer is reported as an action.
  public func ask(_ question: PeerPicker.Question) { updates.post(.asked(question)) }

  /// Removes a question whose answer is no longer needed.
  public func withdraw(question id: String) { updates.post(.withdrawn(question: id)) }

  /// Shows a line above the list in place of its title, such as "Waiting for Kitchen"; nil: the title again.
  public func setRemark(_ text: String?) { updates.post(.remark(text)) }

  /// Sets whether the person may finish, with Tab. False at the start.
  public func setComplete(_ isComplete: Bool) { updates.post(.completion(isComplete)) }

  /// Ends the dialog, if it has not ended yet.
  public func close() { updates.post(.cancelled) }

  /// Shows the dialog until it ends, on a separate thread. Meanwhile nothing else may write to the terminal.
  /// - Parameter tell: called on that thread with the person's actions while the list stays open. Must return quickly.
  public func run(_ tell: @escaping @Sendable (PeerPicker.Action) -> Void = { _ in }) async -> Ending {
    await run(input: STDIN_FILENO, output: .error, traits: nil, tell)
  }

  package func run(
    input: Int32, output: StandardStream, traits: TerminalTraits?,
    readingTime: Duration = PeerPickerTerminal.usualReadingTime,
    _ tell: @escaping @Sendable (PeerPicker.Action) -> Void
  ) async -> Ending {
    let task = Self.last.withLock { last in
      // The previous dialog restores the terminal a moment after it was closed.
      let task = Task { [before = last] in
        await before?.value
        return await show(input, output, traits, readingTime, tell)
      }
      last = Task { _ = await task.value }
      return task
    }
    return await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      close()
    }
  }

  /// The dialog that began last, to its end.
  private static let last = Mutex<Task<Void, Never>?>(nil)

  private func show(
    _ input: Int32, _ output: StandardStream, _ traits: TerminalTraits?, _ readingTime: Duration,
    _ tell: @escaping @Sendable (PeerPicker.Action) -> Void
  ) async -> Ending {
    let outcome = await onItsOwnThread { [updates, picker] in
      var terminal = PeerPickerTerminal(
        updates: updates, picker: picker, input: input, output: output, traits: traits, readingTime: readingTime,
        tell: tell)
      return terminal.run()
    }
    return switch outcome {
    case .picked(let ids): .picked(ids: ids)
    case .finished: .finished
    // A program that ignores SIGHUP goes on, but no person is left to choose a peer.
    case .quit, .hungUp: .quit
    case .interrupted: .interrupted
    case .cancelled: .closed
    case .failed(let code): .failed(code)
    case nil: .failed(EAGAIN)
    }
  }
}
