import Foundation
import PiconetTerminal
import Synchronization

/// The way in which this module asks a person: for `MCAdvertiserAssistant` and `MCBrowserViewController`, which show
/// windows on Apple's systems.
protocol PeerInterface: Sendable {
  /// Asks a person whether to accept the invitation of a peer.
  func accepts(invitationOf peer: MCPeerID, to serviceType: String) async -> Bool

  /// Lets a person choose peers to invite.
  /// - Returns: true when the person has finished, false if the person cancelled.
  func choose(_ choice: NearbyChoice) async -> Bool
}

/// A choice among peers that come and go. Cancelling its task ends it.
struct NearbyChoice: Sendable {
  struct Nearby: Sendable, Equatable {
    let peer: MCPeerID
    let state: MCSessionState
  }

  /// The peers in sight, again after each change, without this one.
  let nearby: AsyncStream<[Nearby]>
  let invite: @Sendable (MCPeerID) -> Void
  /// How many peers have to be connected before the person may finish, and how many may be; without this one.
  let minimum: Int
  let maximum: Int
}

/// Answers without asking a person.
struct UnattendedInterface: PeerInterface {
  func accepts(invitationOf peer: MCPeerID, to serviceType: String) async -> Bool {
    UnattendedAnswer.ofProcess == .accept || Self.declined("MCAdvertiserAssistant: an invitation is declined")
  }

  func choose(_ choice: NearbyChoice) async -> Bool {
    guard UnattendedAnswer.ofProcess == .accept else {
      return Self.declined("MCBrowserViewController: nobody is chosen")
    }
    var invited: Set<MCPeerID> = []
    for await nearby in choice.nearby {
      if nearby.filter({ $0.state == .connected }).count >= choice.minimum { return true }
      for one in nearby where one.state == .notConnected && invited.count < choice.maximum {
        if invited.insert(one.peer).inserted { choice.invite(one.peer) }
      }
    }
    return false
  }
}

extension UnattendedInterface {
  /// - Returns: false.
  private static func declined(_ what: String) -> Bool {
    NSLog("\(what): there is no terminal to ask at (PICONET_UNATTENDED=accept)")
    return false
  }
}

/// Selects the interface to use.
enum PeerInterfaces {
  private static let chosen = Mutex<any PeerInterface>(TerminalInterface())

  static var current: any PeerInterface {
    get { chosen.withLock { $0 } }
    set { chosen.withLock { $0 = newValue } }
  }
}
