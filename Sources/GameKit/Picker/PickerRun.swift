import Foundation
import Piconet
import PiconetTerminal
import Synchronization

/// One run of a picker, from when it is shown until it is over.
// Unchecked: only used on the main queue; all calls from outside come there.
final class PickerRun: @unchecked Sendable {
  /// How long a request to a peer stands.
  private static let patience: TimeInterval = 30

  private let picker: GKPeerPickerController
  private var session: GKSession?
  private var dialog: PeerDialog?
  /// Whether it answers without a person.
  private var isAlone = false
  /// The peer that we have asked.
  private var asked: String?
  private var isOver = false

  init(_ picker: GKPeerPickerController) { self.picker = picker }

  func begin() {
    guard picker.shows(self) else { return }
    let types = picker.connectionTypes
    if !picker.terminal.isPossible() {
      isAlone = true
      guard picker.unattendedAnswer == .accept else {
        NSLog("GKPeerPickerController: nobody is picked: there is no terminal to ask at (PICONET_UNATTENDED=accept)")
        return cancel()
      }
      return search(over: types.contains(.online) ? .online : .nearby)
    }
    guard types.count > 1 else { return search(over: types.first ?? .nearby) }
    chooseType()
  }

  private func chooseType() {
    let list = PeerPicker(title: "Connect over", takesSeveral: false, words: .init(enter: "takes"))
    let names = [(GKPeerPickerConnectionType.nearby, "Bluetooth"), (.online, "Network")]
    let rows = names.map { type, name in
      PeerPicker.Peer(id: "\(type.rawValue)", name: name, digits: "", standing: "")
    }
    show(list, rows) { [self] ids in
      guard let type = ids.first.flatMap(UInt.init).flatMap(GKPeerPickerConnectionType.init) else { return cancel() }
      picker.delegate?.peerPickerController(picker, didSelect: type)
      // The delegate may go on without a picker.
      if picker.shows(self) { search(over: type) }
    }
  }

  private func search(over type: GKPeerPickerConnectionType) {
    let session = picker.delegate?.peerPickerController(picker, sessionFor: type) ?? GKSession()
    guard picker.shows(self) else { return }
    guard session.sessionMode == .peer else {
      session.core.report(GKSessionError(.invalidParameterError, "The session of a picker has the mode peer."))
      return cancel()
    }
    self.session = session
    session.core.restrict(to: type.transports)
    session.core.receivers.withLock { $0.picker = { [weak self] call, _ in self?.take(call) } }
    session.isAvailable = true
    let present = session.core.peers(in: .stateAvailable)
    if isAlone { return present.forEach(appeared) }
    show(PeerPicker(title: "Connect to", staysOpen: true), present.map(row)) { _ in }
  }

  // MARK: The dialog

  private func show(_ list: PeerPicker, _ rows: [PeerPicker.Peer], _ picked: @escaping ([String]) -> Void) {
    guard let dialog = PeerDialog(list) else { return cancel() }
    self.dialog = dialog
    rows.forEach(dialog.show)
    let took = Picked(picked)
    Task { [self] in
      let ending = await picker.terminal.run(dialog) { action in
        DispatchQueue.main.async { self.act(action) }
      }
      DispatchQueue.main.async { self.ended(ending, took) }
    }
  }

  /// Made and called on the main queue.
  // Unchecked: it only passes through the task that waits for the dialog, and is used on the main thread.
  private struct Picked: @unchecked Sendable {
    let call: ([String]) -> Void
    init(_ call: @escaping ([String]) -> Void) { self.call = call }
  }

  private func ended(_ ending: PeerDialog.Ending, _ picked: Picked) {
    guard !isOver else { return }
    switch ending {
    case .picked(let ids): picked.call(ids)
    case .quit, .finished: cancel()
    case .interrupted:
      cancel()
      // Does what the key would have done, had the dialog not taken it.
      kill(getpid(), SIGINT)
    case .closed: break
    case .failed(let code):
      NSLog("GKPeerPickerController: the terminal can't be used: \(String(cString: strerror(code)))")
      cancel()
    }
  }

  private func act(_ action: PeerPicker.Action) {
    guard !isOver, let session else { return }
    switch action {
    case .picked(let peer):
      if let asked, asked != peer { session.cancelConnect(toPeer: asked) }
      connect(peer)
    case .answered(let peer, true): try? session.acceptConnection(fromPeer: peer)
    case .answered(let peer, false): session.denyConnection(fromPeer: peer)
    }
  }

  private func connect(_ peer: String) {
    guard let session else { return }
    asked = peer
    dialog?.setRemark("Waiting for \(name(peer)) to accept...")
    session.connect(toPeer: peer, withTimeout: Self.patience)
  }

  // MARK: The session

  private func take(_ call: SessionCall) {
    guard !isOver, let session else { return }
    switch call {
    case .state(let peer, .stateAvailable): appeared(peer)
    case .state(let peer, .stateUnavailable): dialog?.peerHasGone(id: peer)
    case .state(let peer, .stateConnected): finish(peer, session)
    case .state: break
    case .request(let peer, _, _):
      if isAlone {
        try? session.acceptConnection(fromPeer: peer)
      } else {
        dialog?.ask(.init(id: peer, text: "\(name(peer)) wants to connect."))
      }
    case .failed(let peer, let error):
      dialog?.withdraw(question: peer)
      if peer == asked {
        asked = nil
        dialog?.setRemark("\(name(peer)): \(error.localizedDescription)")
      }
    case .sessionFailed(let error): dialog?.setRemark(error.localizedDescription)
    case .data: break
    }
  }

  private func appeared(_ peer: String) {
    dialog?.show(row(peer))
    if isAlone, asked == nil { connect(peer) }
  }

  private func row(_ peer: String) -> PeerPicker.Peer {
    PeerPicker.Peer(id: peer, name: name(peer), digits: String(peer.suffix(4)), standing: "")
  }

  private func name(_ peer: String) -> String { session?.core.displayName(of: peer) ?? peer }

  // MARK: The end

  private func finish(_ peer: String, _ session: GKSession) {
    end()
    picker.delegate?.peerPickerController(picker, didConnectPeer: peer, to: session)
  }

  private func cancel() {
    end()
    picker.dismiss(self)
    picker.delegate?.peerPickerControllerDidCancel(picker)
  }

  /// Ends the dialog: the session's calls go to its delegate again.
  func end() {
    guard !isOver else { return }
    isOver = true
    dialog?.close()
    session?.core.receivers.withLock { $0.picker = nil }
    session?.isAvailable = false
    session = nil
  }
}

extension GKPeerPickerConnectionType {
  fileprivate var transports: Set<TransportKind> {
    switch self {
    case .online: [.tcp]
    case .nearby: Set(TransportKind.bluetooth)
    }
  }
}
