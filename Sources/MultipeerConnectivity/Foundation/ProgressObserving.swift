import Foundation
import Synchronization

// The part of key-value observing that programs use with a `Progress`, which Foundation on Linux lacks.

/// The values that an observation gets.
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
  /// The options as bits.
  public let rawValue: UInt

  /// Options by their bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// The new value.
  public static let new = NSKeyValueObservingOptions(rawValue: 1)
  /// The value before.
  public static let old = NSKeyValueObservingOptions(rawValue: 2)
  /// An immediate call, with the present value.
  public static let initial = NSKeyValueObservingOptions(rawValue: 4)
}

/// A change of an observed value.
public struct NSKeyValueObservedChange<Value> {
  /// The value now, with the option `new`.
  public let newValue: Value?
  /// The value before, with the option `old`; nil in the call that the option `initial` asks for.
  public let oldValue: Value?
}

/// An observation: it lasts until it is invalidated or released.
///
/// Unchecked: the closure is set once; any thread may remove it, under its lock.
public final class NSKeyValueObservation: NSObject, @unchecked Sendable {
  private let check: Mutex<(@Sendable () -> Void)?>

  fileprivate init(check: @escaping @Sendable () -> Void) {
    self.check = Mutex(check)
    super.init()
  }

  /// Ends the observation; from now on no call begins.
  public func invalidate() { check.withLock { $0 = nil } }

  fileprivate func checkNow() { check.withLock { $0 }?() }
}

extension Progress {
  /// Calls the handler whenever the value has changed, on the thread that has changed it.
  ///
  /// Linux has no key-value observing. Changes are noticed of the progress objects that `MCSession` returns and hands
  /// over, and of a progress that contains one of them. A progress that the program itself counts up is noticed with
  /// the next of those changes.
  /// - Returns: the observation; keep it for as long as it is to last.
  public func observe<Value>(
    _ keyPath: KeyPath<Progress, Value>, options: NSKeyValueObservingOptions = [],
    changeHandler: @escaping (Progress, NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    let observed = ObservedValue(self, keyPath, options, changeHandler)
    let observation = NSKeyValueObservation { observed.check() }
    if options.contains(.initial) { observed.tell(self[keyPath: keyPath], before: nil) }
    ProgressObservations.shared.add(observation)
    return observation
  }
}

/// Unchecked: `last` is under the lock; the key path and the handler never change. The handler is called by the thread
/// that changes a value, as with Apple's.
private final class ObservedValue<Value>: @unchecked Sendable {
  private weak var progress: Progress?
  private let keyPath: KeyPath<Progress, Value>
  private let options: NSKeyValueObservingOptions
  private let handler: (Progress, NSKeyValueObservedChange<Value>) -> Void
  private let lock = NSLock()
  private var last: Value

  init(
    _ progress: Progress, _ keyPath: KeyPath<Progress, Value>, _ options: NSKeyValueObservingOptions,
    _ handler: @escaping (Progress, NSKeyValueObservedChange<Value>) -> Void
  ) {
    self.progress = progress
    self.keyPath = keyPath
    self.options = options
    self.handler = handler
    last = progress[keyPath: keyPath]
  }

  func check() {
    guard let progress else { return }
    let value = progress[keyPath: keyPath]
    let before = lock.withLock { () -> Value? in
      guard !Self.equal(last, value) else { return nil }
      defer { last = value }
      return last
    }
    if let before { tell(value, before: before) }
  }

  func tell(_ value: Value, before: Value?) {
    guard let progress else { return }
    handler(
      progress,
      NSKeyValueObservedChange(
        newValue: options.contains(.new) ? value : nil, oldValue: options.contains(.old) ? before : nil))
  }

  /// Values that can't be compared count as changed.
  private static func equal(_ one: Value, _ other: Value) -> Bool {
    func equal<Compared: Equatable>(_ one: Compared) -> Bool { one == other as? Compared }
    return (one as? any Equatable).map { equal($0) } ?? false
  }
}

/// The observations of this process.
final class ProgressObservations: Sendable {
  static let shared = ProgressObservations()

  private struct Entry {
    weak var observation: NSKeyValueObservation?
  }

  private let entries = Mutex<[Entry]>([])

  func add(_ observation: NSKeyValueObservation) {
    entries.withLock { entries in
      entries.removeAll { $0.observation == nil }
      entries.append(Entry(observation: observation))
    }
  }

  /// Notes that some progress has changed; a progress that contains it has changed with it.
  func check() {
    let observations = entries.withLock { $0.compactMap(\.observation) }
    for observation in observations { observation.checkNow() }
  }
}

/// The progress of a resource, whose changes `Progress.observe` notices.
///
/// Unchecked: as `Progress` is, which any thread may use.
final class ResourceProgress: Progress, @unchecked Sendable {
  override var completedUnitCount: Int64 { didSet { ProgressObservations.shared.check() } }
  override var totalUnitCount: Int64 { didSet { ProgressObservations.shared.check() } }

  override func cancel() {
    super.cancel()
    ProgressObservations.shared.check()
  }
}
