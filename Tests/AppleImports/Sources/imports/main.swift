// The forms in which code for Apple's systems imports these modules, and what it names first.
import GameKit.GKPeerPickerController
import GameKit.GKPublicConstants
import GameKit.GKPublicProtocols
import GameKit.GKSession
import GameKit.GKSessionError
import UIKit
import class UIKit.UIDevice

import class MultipeerConnectivity.MCBrowserViewController
import MultipeerConnectivity.MCPeerID
import MultipeerConnectivity.MCSession

#if canImport(UIKit)
  let name = UIDevice.current.name
#else
  let name = Host.current().localizedName ?? ""
#endif

final class Store: NSObject {
  private let peer = MCPeerID(displayName: UIDevice.current.name)
  private let vendor = UIDevice.current.identifierForVendor?.uuidString ?? "unknown"
  lazy var session = MCSession(peer: peer)
  lazy var game: GKSession = GKSession(sessionID: "imports", displayName: UIDevice.current.name, sessionMode: .peer)

  var isComplete: Bool { session.myPeerID == peer && game.displayName == name && UUID(uuidString: vendor) != nil }
}

print(Store().isComplete)
