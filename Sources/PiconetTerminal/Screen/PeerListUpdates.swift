import CPiconetSystem
import Glibc
import Synchronization

/// Carries updates about peers to the thread that draws the list: a mailbox of limited size, and a descriptor that
/// becomes readable when an update waits. Any thread may post.
package final class PeerListUpdates: Sendable {
  package enum Update: Hashable, Sendable {
    case appeared(PeerPicker.Peer)
    case vanished(id: String)
    case asked(PeerPicker.Question)
    case withdrawn(question: String)
    /// The text above the list; nil: its title.
    case remark(String?)
    /// Whether the person may finish.
    case completion(Bool)
    /// The answer is no longer needed.
    case cancelled
  }

  private struct Mailbox {
    var updates: [Update] = []
    var isCancelled = false
  }

  /// For poll(2).
  package let descriptor: Int32
  private let mailbox = Mutex(Mailbox())

  /// nil if no descriptor is available; errno says why.
  package init?() {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    guard descriptor >= 0 else { return nil }
  }

  deinit { close(descriptor) }

  /// Beyond the limit updates of one subject replace each other; if even that is not enough, the new one is dropped.
  package func post(_ update: Update) {
    mailbox.withLock { mailbox in
      if update == .cancelled {
        mailbox.isCancelled = true
      } else {
        if mailbox.updates.count >= TerminalLimits.pickerBacklog {
          mailbox.updates.removeAll { $0.subject == update.subject }
        }
        if mailbox.updates.count < TerminalLimits.pickerBacklog { mailbox.updates.append(update) }
      }
    }
    var one: UInt64 = 1
    // Fails only when the counter is full, and then the reader is awake anyway.
    _ = write(descriptor, &one, MemoryLayout.size(ofValue: one))
  }

  /// Returns the updates since the last call; `cancelled` comes last.
  package func drain() -> [Update] {
    var count: UInt64 = 0
    _ = read(descriptor, &count, MemoryLayout.size(ofValue: count))
    return mailbox.withLock { mailbox in
      defer { mailbox.updates = [] }
      return mailbox.updates + (mailbox.isCancelled ? [.cancelled] : [])
    }
  }
}

extension PeerListUpdates.Update {
  fileprivate enum Subject: Equatable {
    case peer(String), question(String), remark, completion, everything
  }

  /// The subject of an update: a later update of the same subject makes an earlier one needless.
  fileprivate var subject: Subject {
    switch self {
    case .appeared(let peer): .peer(peer.id)
    case .vanished(let id): .peer(id)
    case .asked(let question): .question(question.id)
    case .withdrawn(let question): .question(question)
    case .remark: .remark
    case .completion: .completion
    case .cancelled: .everything
    }
  }
}
