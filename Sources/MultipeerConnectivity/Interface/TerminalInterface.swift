import Foundation
import PiconetTerminal
import Synchronization

/// Asks a person at the terminal. A choice is a list of the peers in sight; an invitation is a question below the
/// present list, or below an empty one. Without a terminal, `UnattendedInterface` answers.
final class TerminalInterface: PeerInterface {
  typealias Show =
    @Sendable (PeerDialog, @escaping @Sendable (PeerPicker.Action) -> Void) async -> PeerDialog.Ending

  private struct State {
    /// The present dialog, which has the questions; behind it those that wait for its end.
    var dialogs: [PeerDialog] = []
    /// Open questions, by their ids. Nil: the dialog has ended without an answer.
    var questions: [String: CheckedContinuation<Bool?, Never>] = [:]
    var lastQuestion = 0
  }

  private let isPossible: @Sendable () -> Bool
  private let run: Show
  private let unattended = UnattendedInterface()
  private let state = Mutex(State())

  /// Creates an interface at standard input and standard error, or in tests elsewhere.
  init(
    isPossible: @escaping @Sendable () -> Bool = { PeerDialog.isPossible },
    run: @escaping Show = { await $0.run($1) }
  ) {
    self.isPossible = isPossible
    self.run = run
  }

  // MARK: Invitations

  func accepts(invitationOf peer: MCPeerID, to serviceType: String) async -> Bool {
    guard isPossible() else { return await unattended.accepts(invitationOf: peer, to: serviceType) }
    let text = "\(peer.displayName) wants to connect."
    while true {
      if let dialog = state.withLock({ $0.dialogs.first }) {
        if let isAccepted = await ask(text, in: dialog) { return isAccepted }
      } else if !showQuestions() {
        return await unattended.accepts(invitationOf: peer, to: serviceType)
      }
    }
  }

  /// - Returns: nil if the dialog has ended without an answer.
  private func ask(_ text: String, in dialog: PeerDialog) async -> Bool? {
    await withCheckedContinuation { continuation in
      let id = state.withLock { state -> String? in
        guard state.dialogs.first === dialog else { return nil }
        state.lastQuestion += 1
        let id = "\(state.lastQuestion)"
        state.questions[id] = continuation
        return id
      }
      if let id { dialog.ask(.init(id: id, text: text)) } else { continuation.resume(returning: nil) }
    }
  }

  /// Begins a dialog for questions alone, unless another one was quicker.
  /// - Returns: false if no dialog can be shown.
  private func showQuestions() -> Bool {
    guard let dialog = PeerDialog(PeerPicker(title: "Invitations", staysOpen: true)) else { return false }
    let isFirst = state.withLock { state in
      if state.dialogs.isEmpty { state.dialogs = [dialog] }
      return state.dialogs.first === dialog
    }
    guard isFirst else { return true }
    Task { [self] in
      let ending = await run(dialog) { [self] action in
        guard case .answered(let question, let isAccepted) = action else { return }
        if answer(question, isAccepted) == 0 { dialog.close() }
      }
      end(dialog, ending)
    }
    return true
  }

  /// - Returns: the number of questions left.
  private func answer(_ question: String, _ isAccepted: Bool) -> Int {
    let (continuation, count) = state.withLock { state in
      (state.questions.removeValue(forKey: question), state.questions.count)
    }
    continuation?.resume(returning: isAccepted)
    return count
  }

  // MARK: Choices

  func choose(_ choice: NearbyChoice) async -> Bool {
    guard isPossible(),
      let dialog = PeerDialog(
        PeerPicker(title: "Invite", staysOpen: true, words: PeerPicker.Words(enter: "invites")))
    else { return await unattended.choose(choice) }
    state.withLock { $0.dialogs.append(dialog) }
    let shown = Mutex<[NearbyChoice.Nearby]>([])
    let following = Task {
      for await nearby in choice.nearby {
        let before = shown.withLock { shown in
          defer { shown = nearby }
          return shown
        }
        Self.update(dialog, from: before, to: nearby, of: choice)
      }
    }
    let ending = await run(dialog) { [self] action in
      switch action {
      case .picked(let id):
        Self.invite(id, among: shown.withLock { $0 }, by: choice, in: dialog)
      case .answered(let question, let isAccepted): _ = answer(question, isAccepted)
      @unknown default: break
      }
    }
    following.cancel()
    end(dialog, ending)
    return ending == .finished
  }

  private static func update(
    _ dialog: PeerDialog, from before: [NearbyChoice.Nearby], to nearby: [NearbyChoice.Nearby], of choice: NearbyChoice
  ) {
    for one in before where !nearby.contains(where: { $0.peer == one.peer }) {
      dialog.peerHasGone(id: id(of: one.peer))
    }
    for one in nearby where !before.contains(one) {
      dialog.show(
        PeerPicker.Peer(
          id: id(of: one.peer), name: one.peer.displayName, digits: String(id(of: one.peer).suffix(4)),
          standing: standing(one.state)))
      let isRefused = before.contains { $0.peer == one.peer && $0.state != .notConnected } && one.state == .notConnected
      if isRefused { dialog.setRemark("\(one.peer.displayName) is not connected") }
    }
    let count = nearby.count { $0.state == .connected }
    if count > before.count(where: { $0.state == .connected }) { dialog.setRemark(nil) }
    dialog.setComplete(count >= choice.minimum)
  }

  private static func invite(
    _ id: String, among nearby: [NearbyChoice.Nearby], by choice: NearbyChoice, in dialog: PeerDialog
  ) {
    guard let one = nearby.first(where: { Self.id(of: $0.peer) == id }), one.state == .notConnected else { return }
    guard nearby.count(where: { $0.state != .notConnected }) < choice.maximum else {
      return dialog.setRemark("there is no room for more than \(choice.maximum)")
    }
    dialog.setRemark("Waiting for \(one.peer.displayName) to accept...")
    choice.invite(one.peer)
  }

  private static func id(of peer: MCPeerID) -> String { String(peer.identifier, radix: 16) }

  private static func standing(_ state: MCSessionState) -> String {
    switch state {
    case .notConnected: ""
    case .connecting: "connecting"
    case .connected: "connected"
    }
  }

  // MARK: The end

  private func end(_ dialog: PeerDialog, _ ending: PeerDialog.Ending) {
    let questions = state.withLock { state in
      let wasFirst = state.dialogs.first === dialog
      state.dialogs.removeAll { $0 === dialog }
      defer { if wasFirst { state.questions = [:] } }
      return wasFirst ? Array(state.questions.values) : []
    }
    // A dialog that the program ends gives no answer: the question is asked again in the next dialog.
    let answer: Bool? = ending == .closed || ending == .finished ? nil : false
    for question in questions { question.resume(returning: answer) }
    switch ending {
    // Does what the key would have done, had the dialog not taken it.
    case .interrupted: kill(getpid(), SIGINT)
    case .failed(let code):
      NSLog("MultipeerConnectivity: the terminal can't be used: \(String(cString: strerror(code)))")
    default: break
    }
  }
}
