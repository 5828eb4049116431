import Foundation
import Piconet
import Synchronization

/// Sending to peers. Messages go to the member at once while it takes them; otherwise they wait here, up to a limit.
extension GameSession {
  /// How long waiting messages may still go out before a peer is left.
  static let farewell = Duration.seconds(5)
  /// The same for a peer that is disconnected from all peers: those are told within a second.
  static let lastWords = Duration.milliseconds(250)

  /// - Parameter peers: their ids; nil: all connected peers.
  /// - Throws: before anything is queued for any peer.
  func send(_ data: Data?, to peers: [String]?, _ mode: GKSendDataMode) throws {
    guard let data else { throw GKSessionError(.invalidParameterError, "There is no data to be sent.") }
    guard data.count <= SessionSettings.messageLimit else {
      throw GKSessionError(
        .dataTooBigError, "\(data.count) bytes are to be sent; one call takes \(SessionSettings.messageLimit).")
    }
    let bytes = [UInt8](data)[...]
    try state.withLock { state in
      let members = try peers.map { try $0.map { try member($0, in: state) } } ?? connected(in: state)
      for member in members where data.count > member.proven.messageLimit {
        throw GKSessionError(
          .dataTooBigError, "\(data.count) bytes are to be sent; this peer takes \(member.proven.messageLimit).")
      }
      // A longer one would not fit into one frame; reliable delivery does no harm.
      let isReliable = { (member: Member) in mode == .reliable || data.count > member.proven.unreliableLimit }
      for member in members where isReliable(member) {
        guard state.outgoing[member.id, default: OutgoingQueue()].hasRoom(for: data.count) else {
          throw GKSessionError(.transportError, Self.fullQueue(of: member))
        }
      }
      for member in members {
        if isReliable(member) {
          queue(bytes, for: member, in: &state)
        } else {
          _ = try? member.trySend(bytes, mode: .unreliable)
        }
      }
    }
  }

  private static func fullQueue(of member: Member) -> String {
    let peer = String(String.UnicodeScalarView(member.name.unicodeScalars.filter { $0.value >= 0x20 }))
    return "\(OutgoingQueue.byteLimit >> 20) MiB wait for '\(peer)', the most for one peer, and this was queued for "
      + "none. Send it again once the peer has received some of them."
  }

  private func member(_ peerID: String, in state: State) throws -> Member {
    guard let node = state.book.node(peerID) else {
      throw GKSessionError(.peerNotFoundError, "There is no peer with the id \(peerID).")
    }
    guard state.book[node]?.phase == .connected, let member = state.members[node] else {
      throw GKSessionError(.notConnectedError)
    }
    return member
  }

  private func connected(in state: State) -> [Member] {
    state.members.values.filter { state.book[$0.id]?.phase == .connected }
  }

  /// If a member has just left, the session's events report it.
  private func queue(_ bytes: ArraySlice<UInt8>, for member: Member, in state: inout State) {
    if state.outgoing[member.id]?.task == nil, (try? member.trySend(bytes)) ?? true { return }
    var outgoing = state.outgoing.removeValue(forKey: member.id) ?? OutgoingQueue()
    outgoing.append(bytes)
    if outgoing.task == nil { outgoing.task = Task { await handOn(to: member) } }
    state.outgoing[member.id] = outgoing
  }

  /// Sends the waiting messages of a member, in order, until none is left.
  private func handOn(to member: Member) async {
    while let bytes = nextWaiting(for: member) {
      guard (try? await member.send(bytes)) != nil else { return }
      state.withLock { state in
        // The queue of a member that has left is gone, too.
        guard state.members[member.id] == member, var outgoing = state.outgoing.removeValue(forKey: member.id) else {
          return
        }
        outgoing.removeFirst()
        state.outgoing[member.id] = outgoing
      }
    }
  }

  private func nextWaiting(for member: Member) -> ArraySlice<UInt8>? {
    state.withLock { state in
      guard state.members[member.id] == member else { return nil }
      if let bytes = state.outgoing[member.id]?.first { return bytes }
      state.outgoing[member.id] = nil
      return nil
    }
  }

  /// Returns when nothing waits for these members, or after a time.
  func delivered(to members: [NodeID], within time: Duration = farewell) async {
    let tasks = state.withLock { state in members.compactMap { state.outgoing[$0]?.task } }
    guard !tasks.isEmpty else { return }
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        await withTaskCancellationHandler {
          for task in tasks { await task.value }
        } onCancel: {
          for task in tasks { task.cancel() }
        }
      }
      group.addTask { try? await ContinuousClock().sleep(for: time) }
      await group.next()
      group.cancelAll()
    }
  }
}
