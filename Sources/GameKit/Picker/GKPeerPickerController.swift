import Foundation
import PiconetTerminal
import Synchronization

// Unchecked: all variable parts are in the state, under its lock; the work after `show` is done on the main queue.
/// Lets a person pick a peer and connect to it: Apple's `GKPeerPickerController`, as a dialog at the terminal (standard
/// input and standard error). It lists the peers in sight, asks the picked peer, shows the requests of others, and ends
/// with the first connection. Until then it gets the session's calls in place of the delegate.
///
/// Without a terminal it answers automatically, see `unattendedAnswer`. A process shows one picker at a time. It keeps
/// itself alive while it is shown. The main queue has to run, as for `GKSession`.
open class GKPeerPickerController: NSObject, @unchecked Sendable {
  private struct State {
    var types: Set<GKPeerPickerConnectionType> = [.nearby]
    var answer: UnattendedAnswer?
    var delegate = WeakPickerDelegate(nil)
    /// Set while it is shown; the run holds the picker.
    var run: PickerRun?
  }

  private let state = Mutex(State())
  /// The terminal to use; set in tests.
  let terminal: PickerTerminal

  /// Creates a picker that looks over Bluetooth.
  public override init() {
    terminal = .standard
    super.init()
  }

  init(terminal: PickerTerminal) {
    self.terminal = terminal
    super.init()
  }

  /// The kinds of connection to look over; `nearby` at the start. To let the person choose, set `connectionTypes`:
  /// Swift can't write the mask with both bits.
  open var connectionTypesMask: GKPeerPickerConnectionType {
    get { connectionTypes.contains(.nearby) ? .nearby : .online }
    set { connectionTypes = [newValue] }
  }

  /// The kinds of connection as a set; with two of them the person is asked first. Apple's picker does not have this.
  open var connectionTypes: Set<GKPeerPickerConnectionType> {
    get { state.withLock { $0.types } }
    set { state.withLock { $0.types = newValue.isEmpty ? [.nearby] : newValue } }
  }

  /// The answer without a terminal. With `decline` it picks no peer. With `accept` it connects to the first peer that
  /// comes and accepts any that asks. Default: the variable `PICONET_UNATTENDED`, or else `decline`. Apple's picker
  /// does not have this.
  open var unattendedAnswer: UnattendedAnswer {
    get { state.withLock { $0.answer } ?? .ofProcess }
    set { state.withLock { $0.answer = newValue } }
  }

  /// The object that is told the outcome; not retained.
  open weak var delegate: (any GKPeerPickerControllerDelegate)? {
    get { state.withLock { $0.delegate }.delegate }
    set {
      let delegate = WeakPickerDelegate(newValue)
      state.withLock { $0.delegate = delegate }
    }
  }

  /// Shows the picker; does nothing if it is shown.
  open func show() {
    let run = PickerRun(self)
    let isNew = state.withLock { state in
      guard state.run == nil else { return false }
      state.run = run
      return true
    }
    if isNew { DispatchQueue.main.async { run.begin() } }
  }

  /// Removes the picker. The delegate is not told, and a connected session stays connected.
  open func dismiss() {
    let run = state.withLock { state in
      defer { state.run = nil }
      return state.run
    }
    if let run { DispatchQueue.main.async { run.end() } }
  }

  /// Whether the picker is shown: until it is dismissed, or the person cancels it.
  open var isVisible: Bool { state.withLock { $0.run != nil } }

  /// Whether this run is the one that is shown.
  func shows(_ run: PickerRun) -> Bool { state.withLock { $0.run === run } }

  /// Notes that the run has ended on its own.
  func dismiss(_ run: PickerRun) { state.withLock { if $0.run === run { $0.run = nil } } }
}

// Unchecked: the object is only used on the main thread, and the reference itself is counted atomically.
private struct WeakPickerDelegate: @unchecked Sendable {
  private(set) weak var delegate: (any GKPeerPickerControllerDelegate)?

  init(_ delegate: (any GKPeerPickerControllerDelegate)?) { self.delegate = delegate }
}
