import Foundation
import Piconet

/// The constant settings of a session.
struct SessionSettings: Sendable {
  /// The key of `discoveryInfo` that holds the peer id; the greeting holds the id alone.
  static let peerIDKey = "peer"
  /// The limit for a message, in bytes.
  static let messageLimit = 95 * 1024

  let sessionID: String
  let name: String
  let mode: GKSessionMode
  let peerID: String

  init(sessionID: String?, displayName: String?, mode: GKSessionMode) {
    let given = sessionID ?? ""
    self.sessionID = given.isEmpty ? Self.programName : given
    name = Self.fitting(displayName ?? "") ?? Self.fitting(ProcessInfo.processInfo.hostName) ?? "Device"
    self.mode = mode
    peerID = "\(UInt64.random(in: 100_000_000_000_000_000...999_999_999_999_999_999))"
  }

  /// Returns the peer id that a peer claims; nil if this module can't have made it.
  static func peerID(_ claim: String?) -> String? {
    guard let claim, claim.utf8.count == 18, claim.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return claim
  }

  /// - Parameter transports: nil: all.
  func configuration(timeout: TimeInterval, transports: Set<TransportKind>?) -> NodeConfiguration {
    var configuration = NodeConfiguration(sessionID: sessionID, name: name)
    configuration.mode =
      switch mode {
      case .server: .server
      case .client: .client
      case .peer: .peer
      }
    configuration.discoveryInfo = [Self.peerIDKey: peerID]
    configuration.greeting = Array(peerID.utf8)
    configuration.messageLimit = Self.messageLimit
    configuration.disconnectTimeout = .seconds(timeout)
    // Apple's limit for a session of peers is 16.
    configuration.capacity = 16
    // An unanswered request must not hide those behind it.
    configuration.openInvitations = 32
    // A node that connects to one peer is connected with all, and no person is asked about peers that others have let
    // in.
    configuration.membership = .group
    configuration.introductions = .takeWord
    // Any peer may call `disconnectPeerFromAllPeers(_:)`.
    configuration.removals = .members
    configuration.relaying = RelayQuotas()
    // Peers find one another on one network, or over Bluetooth.
    configuration.refusalEndsMembers = true
    configuration.introducesOverLoopback = true
    if let transports {
      configuration.transports.removeAll { !transports.contains($0) }
    } else {
      // Where no other transport leads from one peer to the other, a third one to which both are connected relays.
      configuration.transports.append(.relay)
    }
    return configuration
  }

  private static var programName: String {
    if let identifier = Bundle.main.bundleIdentifier, !identifier.isEmpty { return identifier }
    let name = (CommandLine.arguments.first ?? "").split(separator: "/").last.map(String.init) ?? ""
    return name.isEmpty ? "GameKit" : name
  }

  /// Returns a name that Piconet takes: no control characters, 63 bytes at most; nil if nothing is left.
  private static func fitting(_ name: String) -> String? {
    var kept = String(
      String.UnicodeScalarView(name.unicodeScalars.filter { $0.properties.generalCategory != .control }))
    while kept.utf8.count > 63 { kept.removeLast() }
    return kept.isEmpty ? nil : kept
  }
}
