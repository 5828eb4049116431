import Foundation
import Piconet

extension SessionCore {
  var card: PeerCard { PeerCard(peer, encryption) }

  /// Invites a peer by a conversation with its advertiser.
  /// - Parameter ended: called once the attempt has ended, or if it can't begin.
  func invite(
    _ peer: MCPeerID, context: Data?, within patience: Duration, ended: @escaping @Sendable () -> Void,
    by converse: @escaping @Sendable (InvitationPaper) async throws -> Meeting
  ) {
    let run = currentRun()
    guard (context?.count ?? 0) <= InvitationPaper.contextLimit else {
      ended()
      return run.refuse(
        peer,
        MCError(.invalidParameter, "an invitation's context has at most \(InvitationPaper.contextLimit) bytes"))
    }
    run.invite(peer, context: context.map { [UInt8]($0) }, within: patience, ended: ended, by: converse)
  }

  /// Returns whether the peer is connected under this key. A run that did not begin because of this has no peer to
  /// leave.
  func isConnected(_ peer: MCPeerID, by fingerprint: PeerID) -> Bool {
    guard case .ofDevice = identity, let found = try? connected(peer) else { return false }
    return found.member.id.peer == fingerprint && found.member.transport != nil
  }

  // MARK: Custom discovery

  func connectionData(for peer: MCPeerID, _ completion: @escaping @Sendable (Data?, (any Error)?) -> Void) {
    let run = currentRun()
    Task { [queue] in
      do {
        let data = Data(try await run.place(for: peer).bytes)
        queue.async { completion(data, nil) }
      } catch {
        let error = MCError.wrapping(error)
        queue.async { completion(nil, error) }
      }
    }
  }

  func connect(_ peer: MCPeerID, to data: Data) {
    let run = currentRun()
    guard let place = try? MeetingPlace(data), place.card.identifier == peer.identifier else {
      return run.refuse(peer, MCError(.invalidParameter, "this is no connection data of \(peer.displayName)"))
    }
    run.connect(peer, at: place)
  }

  func cancelConnect(_ peer: MCPeerID) { presentRun?.cancelConnect(peer) }
}

/// The place of an invited peer's session, as seen from the inviter.
struct Meeting: Sendable {
  let place: MeetingPlace
  let addresses: [TransportAddress]
}
