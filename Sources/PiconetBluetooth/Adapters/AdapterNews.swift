import PiconetRuntime

/// Tells all listeners on adapters when these change, over a single socket. Confined to the loop.
///
/// It watches as long as there is a subscriber. If the kernel has no Bluetooth, nothing is reported.
public final class AdapterNews {
  /// Begins to watch, and returns a function that ends it; nil: there is nothing to watch.
  typealias Watching = (_ changed: @escaping () -> Void) -> (() -> Void)?

  private let watch: Watching
  private var endWatching: (() -> Void)?
  private var readers: [(id: ObjectIdentifier, changed: () -> Void)] = []

  public convenience init(loop: EventLoop) {
    self.init { changed in
      guard let monitor = try? AdapterMonitor(loop: loop, changed: { _ in changed() }) else { return nil }
      return monitor.close
    }
  }

  /// - Parameter watch: the kernel's news, or a test's replacement for it.
  init(watch: @escaping Watching) { self.watch = watch }

  deinit { endWatching?() }

  /// Whether it is watching.
  public var isWatching: Bool { endWatching != nil }

  /// Calls `changed` on the loop after each change, until `remove`. An id that is already registered gets this function
  /// instead.
  func add(_ id: ObjectIdentifier, _ changed: @escaping () -> Void) {
    remove(id, keepsWatching: true)
    readers.append((id, changed))
    guard endWatching == nil else { return }
    endWatching = watch { [weak self] in self?.tell() }
  }

  /// Idempotent.
  func remove(_ id: ObjectIdentifier) { remove(id, keepsWatching: false) }

  private func remove(_ id: ObjectIdentifier, keepsWatching: Bool) {
    readers.removeAll { $0.id == id }
    guard readers.isEmpty, !keepsWatching else { return }
    endWatching?()
    endWatching = nil
  }

  private func tell() {
    // A reader that is called may remove itself, or another one.
    for reader in readers where readers.contains(where: { $0.id == reader.id }) { reader.changed() }
  }
}
