import Foundation
import PiconetTerminal
import Synchronization

// Unchecked: all that changes is in the state, under its lock; what happens after `show` happens on the main queue.
/// Lets a person pick a peer and connect to it: Apple's `GKPeerPickerController`, as a dialog at the terminal (standard
/// input and standard error). It lists the peers in sight, asks the one that is picked, shows the requests of others,
/// and ends with the first connection. Until then it gets the session's calls in place of the delegate.
///
/// Without a terminal it answers automatically, see `unattendedAnswer`. A process shows one at a time. It keeps itself
/// alive while it is shown. The main queue has to run, as for `GKSession`.
open class GKPeerPickerController: NSObject, @unchecked Sendable {
  private struct State {
    var types: Set<GKPeerPickerConnectionType> = [.nearby]
    var answer: UnattendedAnswer?
    var delegate = WeakPickerDelegate(nil)
    /// While it is shown; it holds the picker.
    var run: PickerRun?
  }

  private let state = Mutex(State())
  /// In tests: the terminal to be used.
  let terminal: PickerTerminal

  /// A picker that looks over Bluetooth.
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

  /// What happens without a terminal: `decline`, and no one is picked, or `accept`, and the picker connects to the
  /// first peer that comes and accepts any that asks. Default: what the variable `PICONET_UNATTENDED` says, or else
  /// `decline`. Apple's picker does not have this.
  open var unattendedAnswer: UnattendedAnswer {
    get { state.withLock { $0.answer } ?? .ofProcess }
    set { state.withLock { $0.answer = newValue } }
  }

  /// Told the outcome; not retained.
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

  /// Takes the picker away. The delegate is not told, and a connected session stays so.
  open func dismiss() {
    let run = state.withLock { state in
      defer { state.run = nil }
      return state.run
    }
    if let run { DispatchQueue.main.async { run.end() } }
  }

  /// Whether the picker is shown: until it is dismissed, or the person picks no one.
  open var isVisible: Bool { state.withLock { $0.run != nil } }

  /// Whether this run is the one that is shown.
  func shows(_ run: PickerRun) -> Bool { state.withLock { $0.run === run } }

  /// The run has ended on its own.
  func dismiss(_ run: PickerRun) { state.withLock { if $0.run === run { $0.run = nil } } }
}

// Unchecked: the object is only used on the main thread, and the reference itself is counted atomically.
private struct WeakPickerDelegate: @unchecked Sendable {
  private(set) weak var delegate: (any GKPeerPickerControllerDelegate)?

  init(_ delegate: (any GKPeerPickerControllerDelegate)?) { self.delegate = delegate }
}
