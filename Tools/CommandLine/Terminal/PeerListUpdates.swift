import CPiconetSystem
import Glibc
import Synchronization

/// Carries what is known about peers to the thread that draws the list: a mailbox of limited size, and a descriptor
/// that becomes readable when there is something in it. Any thread may post.
final class PeerListUpdates: Sendable {
  enum Update: Hashable, Sendable {
    case appeared(PeerPicker.Peer)
    case vanished(id: String)
    /// Nobody wants the answer any more.
    case cancelled
  }

  private struct Mailbox {
    var updates: [Update] = []
    var isCancelled = false
  }

  /// For poll(2).
  let descriptor: Int32
  private let mailbox = Mutex(Mailbox())

  /// nil if no descriptor is available; errno says why.
  init?() {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    guard descriptor >= 0 else { return nil }
  }

  deinit { close(descriptor) }

  /// Beyond the limit a peer's updates replace each other; if even that is not enough, the new one is dropped.
  func post(_ update: Update) {
    mailbox.withLock { mailbox in
      if update == .cancelled {
        mailbox.isCancelled = true
      } else {
        if mailbox.updates.count >= CommandLineLimits.pickerBacklog {
          mailbox.updates.removeAll { $0.peerID == update.peerID }
        }
        if mailbox.updates.count < CommandLineLimits.pickerBacklog { mailbox.updates.append(update) }
      }
    }
    var one: UInt64 = 1
    // Fails only when the counter is full, and then the reader is awake anyway.
    _ = write(descriptor, &one, MemoryLayout.size(ofValue: one))
  }

  /// What was posted since the last call; `cancelled` comes last.
  func drain() -> [Update] {
    var count: UInt64 = 0
    _ = read(descriptor, &count, MemoryLayout.size(ofValue: count))
    return mailbox.withLock { mailbox in
      defer { mailbox.updates = [] }
      return mailbox.updates + (mailbox.isCancelled ? [.cancelled] : [])
    }
  }
}

extension PeerListUpdates.Update {
  fileprivate var peerID: String? {
    switch self {
    case .appeared(let peer): peer.id
    case .vanished(let id): id
    case .cancelled: nil
    }
  }
}
