import Foundation
import Piconet

/// A call to the session's owner, on the main queue.
enum SessionCall: Sendable {
  case state(peer: String, GKPeerConnectionState)
  /// A peer asks; reported only if the request is still open then.
  case request(peer: String, NodeID, id: UInt64)
  case failed(peer: String, GKSessionError)
  case data(Data, peer: String)
  case sessionFailed(GKSessionError)

  /// Its share of the memory that calls may take, in bytes.
  var cost: Int { if case .data(let data, _) = self { data.count + 64 } else { 64 } }

  var isData: Bool { if case .data = self { true } else { false } }
}
