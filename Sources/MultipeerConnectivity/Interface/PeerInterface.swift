import Foundation
import Synchronization

/// How this module asks a person: for `MCAdvertiserAssistant` and `MCBrowserViewController`, which show windows on
/// Apple's systems.
protocol PeerInterface: Sendable {
  /// Whether a person accepts the invitation of a peer.
  func accepts(invitationOf peer: MCPeerID, to serviceType: String) async -> Bool

  /// Lets a person choose whom to invite.
  /// - Returns: true when the person has finished, false if it was given up.
  func choose(_ choice: NearbyChoice) async -> Bool
}

/// A choice among peers that come and go. Cancelled with its task.
struct NearbyChoice: Sendable {
  struct Nearby: Sendable, Equatable {
    let peer: MCPeerID
    let state: MCSessionState
  }

  /// The peers that are there, again after each change, without this one.
  let nearby: AsyncStream<[Nearby]>
  let invite: @Sendable (MCPeerID) -> Void
  /// How many have to be connected before the person may finish, and how many may be; without this one.
  let minimum: Int
  let maximum: Int
}

/// Answers where there is no person to ask.
public enum MCUnattendedAnswer: String, Sendable {
  /// Declines every invitation, and gives up every choice.
  case decline
  /// Accepts every invitation, and invites everybody until enough are connected.
  case accept

  private static let chosen = Mutex<MCUnattendedAnswer?>(nil)

  /// What is answered. Unless a program sets it: `accept` where the variable `PICONET_UNATTENDED` has this value,
  /// otherwise `decline`.
  public static var current: MCUnattendedAnswer {
    get {
      chosen.withLock { $0 }
        ?? ProcessInfo.processInfo.environment["PICONET_UNATTENDED"].flatMap(MCUnattendedAnswer.init) ?? .decline
    }
    set { chosen.withLock { $0 = newValue } }
  }
}

/// Asks no one.
struct UnattendedInterface: PeerInterface {
  func accepts(invitationOf peer: MCPeerID, to serviceType: String) async -> Bool {
    MCUnattendedAnswer.current == .accept
  }

  func choose(_ choice: NearbyChoice) async -> Bool {
    guard MCUnattendedAnswer.current == .accept else { return false }
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

/// Which interface is used.
enum PeerInterfaces {
  private static let chosen = Mutex<any PeerInterface>(UnattendedInterface())

  static var current: any PeerInterface {
    get { chosen.withLock { $0 } }
    set { chosen.withLock { $0 = newValue } }
  }
}
