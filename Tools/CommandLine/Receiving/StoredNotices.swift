import Synchronization

/// Tells a desktop which files have been stored, when their sender has left. One notification is shown at a time:
/// senders may come and go as often as they like. Any thread may use it.
final class StoredNotices: Sendable {
  private let desktop: Desktop
  private let console: Console
  /// Of senders that are here.
  private let files = Mutex<[TransferPeer: StoredFiles]>([:])
  private let (complete, completing) = AsyncStream<StoredFiles>.makeStream(bufferingPolicy: .bufferingNewest(1))

  init(desktop: Desktop, console: Console) {
    self.desktop = desktop
    self.console = console
  }

  func stored(_ path: String, bytes: Int64, of sender: TransferPeer) {
    // A name is a stranger's own claim.
    let new = StoredFiles(name: "\(console.safe(sender.name)) (\(sender.fingerprint.prefix(12)))")
    files.withLock { $0[sender, default: new].add(path, bytes: bytes) }
  }

  /// Notes that nothing more comes from this sender.
  func over(_ sender: TransferPeer) {
    if let files = files.withLock({ $0.removeValue(forKey: sender) }) { completing.yield(files) }
  }

  /// Until the task is cancelled.
  func run() async {
    var showing: Task<Void, Never>?
    for await files in complete {
      showing?.cancel()
      await showing?.value
      showing = Task { await desktop.show(files, safe: console.safe) }
    }
    showing?.cancel()
    await showing?.value
  }
}
