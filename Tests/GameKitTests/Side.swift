import Foundation
import Piconet
import Synchronization
import Testing

@testable import GameKit

/// One session of a test on `lo`, and all that it was told, in words such as `connected Ben`.
final class Side: NSObject, GKSessionDelegate, GKSessionDataReceiveHandler, @unchecked Sendable {
  // Unchecked: what changes is in the state, under its lock.
  enum Answer { case accept, deny, none }

  private struct State {
    var told: [String] = []
    var onlyOffMain = 0
    var waiters: [(isMet: @Sendable ([String]) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
    var answer = Answer.accept
    var connects = false
    var received: [Data] = []
  }

  /// Sessions that are to share a host, as those of one process do.
  static let host = SessionHost(interfaces: ["lo"])

  private static let mainQueue: DispatchSpecificKey<Bool> = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  static func freshID() -> String { "gk-\(getpid())-\(UInt32.random(in: 0 ... .max))" }

  let name: String
  private let state = Mutex(State())
  private let current: Mutex<GKSession?>

  init(
    _ name: String, in sessionID: String, mode: GKSessionMode = .peer, answer: Answer = .accept,
    connects: Bool = false, hasDelegate: Bool = true, hasHandler: Bool = true,
    on host: SessionHost = Side.host
  ) {
    self.name = name
    current = Mutex(
      GKSession(GameSession(sessionID: sessionID, displayName: name, mode: mode, host: host)))
    super.init()
    state.withLock {
      $0.answer = answer
      $0.connects = connects
    }
    if hasDelegate { session.delegate = self }
    if hasHandler { session.setDataReceiveHandler(self, withContext: nil) }
  }

  /// Until `letGo`.
  var session: GKSession { current.withLock { $0 } ?? GKSession() }

  /// Does what `session = nil` does in a program.
  func letGo() { current.withLock { $0 = nil } }

  var told: [String] { state.withLock { $0.told } }
  var received: [Data] { state.withLock { $0.received } }
  /// Calls that were not made on the main queue.
  var callsOffMain: Int { state.withLock { $0.onlyOffMain } }

  func setConnects(_ connects: Bool) { state.withLock { $0.connects = connects } }

  /// Waits until the condition holds of all that was told.
  func wait(until isMet: @escaping @Sendable ([String]) -> Bool) async {
    await withCheckedContinuation { continuation in
      let isMetAlready = state.withLock { state in
        if isMet(state.told) { return true }
        state.waiters.append((isMet, continuation))
        return false
      }
      if isMetAlready { continuation.resume() }
    }
  }

  func wait(for words: String, times: Int = 1) async {
    await wait { told in told.count { $0 == words } >= times }
  }

  var peerID: String { session.peerID }

  /// The id under which this side knows another one: its own.
  func id(of other: Side) -> String { other.peerID }

  private func note(_ words: String) {
    // The main queue has no thread of its own in a process whose main function is asynchronous.
    let isMain = DispatchQueue.getSpecific(key: Self.mainQueue) != nil
    let met = state.withLock { state in
      state.told.append(words)
      if !isMain { state.onlyOffMain += 1 }
      let met = state.waiters.filter { $0.isMet(state.told) }.map(\.continuation)
      if !met.isEmpty { state.waiters.removeAll { $0.isMet(state.told) } }
      return met
    }
    for continuation in met { continuation.resume() }
  }

  private func name(_ peer: String, _ session: GKSession) -> String { session.displayName(forPeer: peer) ?? peer }

  // MARK: GKSessionDelegate

  func session(_ session: GKSession, peer peerID: String, didChange state: GKPeerConnectionState) {
    let words =
      switch state {
      case .stateAvailable: "available"
      case .stateUnavailable: "unavailable"
      case .stateConnected: "connected"
      case .stateDisconnected: "disconnected"
      case .stateConnecting: "connecting"
      case .stateConnectedRelay: "relay"
      }
    note("\(words) \(name(peerID, session))")
    if state == .stateAvailable, self.state.withLock({ $0.connects }) {
      session.connect(toPeer: peerID, withTimeout: 60)
    }
  }

  func session(_ session: GKSession, didReceiveConnectionRequestFromPeer peerID: String) {
    note("request \(name(peerID, session))")
    switch state.withLock({ $0.answer }) {
    case .accept:
      do { try session.acceptConnection(fromPeer: peerID) } catch { note("accepting throws \(error)") }
    case .deny: session.denyConnection(fromPeer: peerID)
    case .none: break
    }
  }

  func session(_ session: GKSession, connectionWithPeerFailed peerID: String, withError error: any Error) {
    note("failed \(name(peerID, session)) \((error as? GKSessionError).map { "\($0.code)" } ?? "\(error)")")
  }

  func session(_ session: GKSession, didFailWithError error: any Error) {
    note("session failed \((error as? GKSessionError).map { "\($0.code)" } ?? "\(error)")")
  }

  func receiveData(
    _ data: Data, fromPeer peer: String, inSession session: GKSession, context: UnsafeMutableRawPointer?
  ) {
    state.withLock { $0.received.append(data) }
    note(data.count < 40 ? "data \(name(peer, session)) \(String(decoding: data, as: UTF8.self))" : "much data")
  }
}

/// Two sides that are connected: `first` has asked.
func connected(
  _ sessionID: String = Side.freshID(), _ body: (_ first: Side, _ second: Side) async throws -> Void
) async throws {
  let (first, second) = (Side("Anna", in: sessionID), Side("Ben", in: sessionID))
  for side in [first, second] { side.session.isAvailable = true }
  await first.wait(for: "available Ben")
  await second.wait(for: "available Anna")
  first.session.connect(toPeer: first.id(of: second), withTimeout: 60)
  await first.wait(for: "connected Ben")
  await second.wait(for: "connected Anna")
  try await body(first, second)
}

/// Whether this error, and no other, is thrown.
func throwsCode(_ code: GKSessionError.Code, _ body: () throws -> Void) -> Bool {
  do {
    try body()
    return false
  } catch {
    return code ~= error
  }
}
