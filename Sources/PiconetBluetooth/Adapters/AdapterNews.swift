import PiconetRuntime

/// Tells all who listen on adapters when these change, by one socket for all of them. Confined to the loop.
///
/// It watches as long as somebody wants to know. Where the kernel has no Bluetooth nobody is told anything.
public final class AdapterNews {
  private let loop: EventLoop
  private var monitor: AdapterMonitor?
  private var readers: [(id: ObjectIdentifier, changed: () -> Void)] = []

  public init(loop: EventLoop) { self.loop = loop }

  /// Whether it watches.
  public var isWatching: Bool { monitor != nil }

  /// Calls `changed` on the loop after each change, until `remove`. Whoever is there already is told by this one.
  func add(_ id: ObjectIdentifier, _ changed: @escaping () -> Void) {
    remove(id, keepsWatching: true)
    readers.append((id, changed))
    guard monitor == nil else { return }
    monitor = try? AdapterMonitor(loop: loop) { [weak self] _ in self?.tell() }
  }

  /// Idempotent.
  func remove(_ id: ObjectIdentifier) { remove(id, keepsWatching: false) }

  private func remove(_ id: ObjectIdentifier, keepsWatching: Bool) {
    readers.removeAll { $0.id == id }
    guard readers.isEmpty, !keepsWatching else { return }
    monitor?.close()
    monitor = nil
  }

  private func tell() {
    // One that is told may remove itself, or another one.
    for reader in readers where readers.contains(where: { $0.id == reader.id }) { reader.changed() }
  }
}
