import MultipeerConnectivity
import MultipeerConnectivity.MCAdvertiserAssistant
import MultipeerConnectivity.MCBrowserViewController
import MultipeerConnectivity.MCError
import MultipeerConnectivity.MCNearbyServiceAdvertiser
import MultipeerConnectivity.MCNearbyServiceBrowser
import MultipeerConnectivity.MCPeerID
import MultipeerConnectivity.MCSession
import Testing

import class MultipeerConnectivity.MCSession
import protocol MultipeerConnectivity.MCSessionDelegate

/// Every public name of Apple's module with Apple's type: what compiles here is there, and the count shows that none
/// was forgotten. Each use names the declaration and the type that Apple's headers give it in Swift. The tests of
/// values, classes and protocols have 132 of them.
@Suite("Each public name of Apple's module, with its type")
@MainActor struct PublicInterfaceTests {
  /// Collects uses: the type of the second argument is what is held.
  private struct Names {
    var seen: [String] = []
    mutating func name<Value>(_ name: String, _ value: Value, _ type: Value.Type) { seen.append(name) }
    mutating func type<Value>(_ type: Value.Type) { seen.append("\(type)") }
  }

  @Test("constants, enumerations and errors")
  func values() {
    var names = Names()
    names.name("kMCSessionMinimumNumberOfPeers", kMCSessionMinimumNumberOfPeers, Int.self)
    names.name("kMCSessionMaximumNumberOfPeers", kMCSessionMaximumNumberOfPeers, Int.self)
    names.name("MCErrorDomain", MCErrorDomain, String.self)
    names.name("MCSessionSendDataMode.reliable", .reliable, MCSessionSendDataMode.self)
    names.name("MCSessionSendDataMode.unreliable", .unreliable, MCSessionSendDataMode.self)
    names.name("MCSessionState.notConnected", .notConnected, MCSessionState.self)
    names.name("MCSessionState.connecting", .connecting, MCSessionState.self)
    names.name("MCSessionState.connected", .connected, MCSessionState.self)
    names.name("MCEncryptionPreference.optional", .optional, MCEncryptionPreference.self)
    names.name("MCEncryptionPreference.required", .required, MCEncryptionPreference.self)
    names.name("MCEncryptionPreference.none", .none, MCEncryptionPreference.self)
    #expect(kMCSessionMinimumNumberOfPeers == 2 && kMCSessionMaximumNumberOfPeers == 8)
    #expect(MCErrorDomain == "MCErrorDomain")
    #expect([MCSessionSendDataMode.reliable, .unreliable].map(\.rawValue) == [0, 1])
    #expect([MCSessionState.notConnected, .connecting, .connected].map(\.rawValue) == [0, 1, 2])
    #expect([MCEncryptionPreference.optional, .required, .none].map(\.rawValue) == [0, 1, 2])
    names.name(
      "MCSessionSendDataMode(rawValue:)", MCSessionSendDataMode.init(rawValue:), ((Int) -> MCSessionSendDataMode?).self)
    names.name("MCSessionState(rawValue:)", MCSessionState.init(rawValue:), ((Int) -> MCSessionState?).self)
    names.name(
      "MCEncryptionPreference(rawValue:)", MCEncryptionPreference.init(rawValue:),
      ((Int) -> MCEncryptionPreference?).self)

    let codes: [MCError.Code] = [
      .unknown, .notConnected, .invalidParameter, .unsupported, .timedOut, .cancelled, .unavailable,
    ]
    #expect(codes.map(\.rawValue) == [0, 1, 2, 3, 4, 5, 6])
    #expect(
      codes == [
        MCError.unknown, MCError.notConnected, MCError.invalidParameter, MCError.unsupported, MCError.timedOut,
        MCError.cancelled, MCError.unavailable,
      ])
    for (name, code) in zip(
      ["unknown", "notConnected", "invalidParameter", "unsupported", "timedOut", "cancelled", "unavailable"], codes)
    {
      names.name("MCError.Code.\(name)", code, MCError.Code.self)
    }
    names.name("MCError.unknown", MCError.unknown, MCError.Code.self)
    names.name("MCError.notConnected", MCError.notConnected, MCError.Code.self)
    names.name("MCError.invalidParameter", MCError.invalidParameter, MCError.Code.self)
    names.name("MCError.unsupported", MCError.unsupported, MCError.Code.self)
    names.name("MCError.timedOut", MCError.timedOut, MCError.Code.self)
    names.name("MCError.cancelled", MCError.cancelled, MCError.Code.self)
    names.name("MCError.unavailable", MCError.unavailable, MCError.Code.self)
    names.type(MCSessionSendDataMode.self)
    names.type(MCSessionState.self)
    names.type(MCEncryptionPreference.self)
    names.type(MCError.self)
    names.type(MCError.Code.self)
    names.name("MCSessionSendDataMode.rawValue", MCSessionSendDataMode.reliable.rawValue, Int.self)
    names.name("MCSessionState.rawValue", MCSessionState.connected.rawValue, Int.self)
    names.name("MCEncryptionPreference.rawValue", MCEncryptionPreference.none.rawValue, Int.self)
    names.name("MCError.Code.rawValue", MCError.Code.unknown.rawValue, Int.self)
    names.name("MCError(_:userInfo:)", MCError.init(_:userInfo:), ((MCError.Code, [String: Any]) -> MCError).self)
    names.name("MCError.errorDomain", MCError.errorDomain, String.self)
    names.name("MCError.Code(rawValue:)", MCError.Code.init(rawValue:), ((Int) -> MCError.Code?).self)
    let error = MCError(.timedOut)
    names.name("MCError.code", error.code, MCError.Code.self)
    names.name("MCError.errorCode", error.errorCode, Int.self)
    names.name("MCError.errorUserInfo", error.errorUserInfo, [String: Any].self)
    names.name("MCError.userInfo", error.userInfo, [String: Any].self)
    #expect(Set([error]).contains(MCError(.timedOut)))
    names.name("MCError ==", (==) as (MCError, MCError) -> Bool, ((MCError, MCError) -> Bool).self)
    names.name("MCError.hash(into:)", error.hash(into:), ((inout Hasher) -> Void).self)
    names.name("MCError.hashValue", error.hashValue, Int.self)
    names.name("MCError.localizedDescription", error.localizedDescription, String.self)
    names.name("MCError.Code ~=", (~=) as (MCError.Code, any Error) -> Bool, ((MCError.Code, any Error) -> Bool).self)
    names.name("MCSessionSendDataMode.RawValue", 0, MCSessionSendDataMode.RawValue.self)
    names.name("MCSessionState.RawValue", 0, MCSessionState.RawValue.self)
    names.name("MCEncryptionPreference.RawValue", 0, MCEncryptionPreference.RawValue.self)
    names.name("MCError.Code.RawValue", 0, MCError.Code.RawValue.self)
    #expect(names.seen.count == 53 && Set(names.seen).count == 53)
  }

  @Test("classes, with the types of their initialisers, methods and properties")
  func classes() {
    var names = Names()
    let peer = MCPeerID(displayName: "Anna")
    let session = MCSession(peer: peer)
    let advertiser = MCNearbyServiceAdvertiser(peer: peer, discoveryInfo: nil, serviceType: "a")
    let browser = MCNearbyServiceBrowser(peer: peer, serviceType: "a")
    let assistant = MCAdvertiserAssistant(serviceType: "a", discoveryInfo: nil, session: session)
    let controller = MCBrowserViewController(serviceType: "a", session: session)

    for type in [
      MCPeerID.self, MCSession.self, MCNearbyServiceAdvertiser.self, MCNearbyServiceBrowser.self,
      MCAdvertiserAssistant.self, MCBrowserViewController.self,
    ] as [NSObject.Type] { names.type(type) }
    names.name("MCPeerID(displayName:)", MCPeerID.init(displayName:), ((String) -> MCPeerID).self)
    names.name("MCPeerID.displayName", peer.displayName, String.self)
    names.name("MCPeerID.supportsSecureCoding", MCPeerID.supportsSecureCoding, Bool.self)
    names.name("MCPeerID.encode", peer.encode(with:), ((NSCoder) -> Void).self)
    names.name("MCPeerID(coder:)", MCPeerID.init(coder:), ((NSCoder) -> MCPeerID?).self)
    names.name("MCPeerID.copy", peer.copy(with:), ((NSZone?) -> Any).self)
    #expect(peer as any NSCopying is MCPeerID && peer as any NSSecureCoding is MCPeerID && peer as NSObject is MCPeerID)

    names.name("MCSession(peer:)", MCSession.init(peer:), ((MCPeerID) -> MCSession).self)
    names.name(
      "MCSession(peer:securityIdentity:encryptionPreference:)",
      MCSession.init(peer:securityIdentity:encryptionPreference:),
      ((MCPeerID, [Any]?, MCEncryptionPreference) -> MCSession).self)
    names.name(
      "MCSession.send", session.send(_:toPeers:with:), ((Data, [MCPeerID], MCSessionSendDataMode) throws -> Void).self)
    names.name("MCSession.disconnect", session.disconnect, (() -> Void).self)
    names.name(
      "MCSession.sendResource", session.sendResource(at:withName:toPeer:withCompletionHandler:),
      ((URL, String, MCPeerID, (((any Error)?) -> Void)?) -> Progress?).self)
    names.name(
      "MCSession.startStream", session.startStream(withName:toPeer:), ((String, MCPeerID) throws -> OutputStream).self)
    names.name("MCSession.delegate", session.delegate, (any MCSessionDelegate)?.self)
    names.name("MCSession.myPeerID", session.myPeerID, MCPeerID.self)
    names.name("MCSession.securityIdentity", session.securityIdentity, [Any]?.self)
    names.name("MCSession.encryptionPreference", session.encryptionPreference, MCEncryptionPreference.self)
    names.name("MCSession.connectedPeers", session.connectedPeers, [MCPeerID].self)
    names.name(
      "MCSession.nearbyConnectionData", session.nearbyConnectionData(forPeer:withCompletionHandler:),
      ((MCPeerID, @escaping @Sendable (Data?, (any Error)?) -> Void) -> Void).self)
    let data: (MCPeerID) async throws -> Data = session.nearbyConnectionData(forPeer:)
    names.name("MCSession.nearbyConnectionData, asynchronous", data, ((MCPeerID) async throws -> Data).self)
    names.name(
      "MCSession.connectPeer", session.connectPeer(_:withNearbyConnectionData:), ((MCPeerID, Data) -> Void).self)
    names.name("MCSession.cancelConnectPeer", session.cancelConnectPeer(_:), ((MCPeerID) -> Void).self)
    #expect(session.encryptionPreference == .required && session.securityIdentity == nil)

    names.name(
      "MCNearbyServiceAdvertiser.init", MCNearbyServiceAdvertiser.init(peer:discoveryInfo:serviceType:),
      ((MCPeerID, [String: String]?, String) -> MCNearbyServiceAdvertiser).self)
    names.name("startAdvertisingPeer", advertiser.startAdvertisingPeer, (() -> Void).self)
    names.name("stopAdvertisingPeer", advertiser.stopAdvertisingPeer, (() -> Void).self)
    names.name("advertiser.delegate", advertiser.delegate, (any MCNearbyServiceAdvertiserDelegate)?.self)
    names.name("advertiser.myPeerID", advertiser.myPeerID, MCPeerID.self)
    names.name("advertiser.discoveryInfo", advertiser.discoveryInfo, [String: String]?.self)
    names.name("advertiser.serviceType", advertiser.serviceType, String.self)

    names.name(
      "MCNearbyServiceBrowser.init", MCNearbyServiceBrowser.init(peer:serviceType:),
      ((MCPeerID, String) -> MCNearbyServiceBrowser).self)
    names.name("startBrowsingForPeers", browser.startBrowsingForPeers, (() -> Void).self)
    names.name("stopBrowsingForPeers", browser.stopBrowsingForPeers, (() -> Void).self)
    names.name(
      "invitePeer", browser.invitePeer(_:to:withContext:timeout:),
      ((MCPeerID, MCSession, Data?, TimeInterval) -> Void).self)
    names.name("browser.delegate", browser.delegate, (any MCNearbyServiceBrowserDelegate)?.self)
    names.name("browser.myPeerID", browser.myPeerID, MCPeerID.self)
    names.name("browser.serviceType", browser.serviceType, String.self)

    names.name(
      "MCAdvertiserAssistant.init", MCAdvertiserAssistant.init(serviceType:discoveryInfo:session:),
      ((String, [String: String]?, MCSession) -> MCAdvertiserAssistant).self)
    names.name("assistant.start", assistant.start, (() -> Void).self)
    names.name("assistant.stop", assistant.stop, (() -> Void).self)
    names.name("assistant.delegate", assistant.delegate, (any MCAdvertiserAssistantDelegate)?.self)
    names.name("assistant.session", assistant.session, MCSession.self)
    names.name("assistant.discoveryInfo", assistant.discoveryInfo, [String: String]?.self)
    names.name("assistant.serviceType", assistant.serviceType, String.self)

    let ofBrowser: @MainActor (MCNearbyServiceBrowser, MCSession) -> MCBrowserViewController =
      MCBrowserViewController.init(browser:session:)
    names.name("controller.init(browser:)", ofBrowser, Swift.type(of: ofBrowser))
    names.name("controller.delegate", controller.delegate, (any MCBrowserViewControllerDelegate)?.self)
    names.name("controller.browser", controller.browser, MCNearbyServiceBrowser?.self)
    names.name("controller.session", controller.session, MCSession.self)
    names.name("controller.minimumNumberOfPeers", controller.minimumNumberOfPeers, Int.self)
    names.name("controller.maximumNumberOfPeers", controller.maximumNumberOfPeers, Int.self)
    names.name("controller as delegate", controller, (any MCNearbyServiceBrowserDelegate).self)
    let ofType: @MainActor (String, MCSession) -> MCBrowserViewController =
      MCBrowserViewController.init(serviceType:session:)
    names.name("controller.init(serviceType:)", ofType, Swift.type(of: ofType))
    #expect(names.seen.count == 56 && Set(names.seen).count == 56)
  }

  /// Has what the protocols require on Apple's systems, and nothing that is optional there: that it compiles is what is
  /// shown.
  private final class Least: NSObject, MCSessionDelegate, MCNearbyServiceAdvertiserDelegate,
    MCNearbyServiceBrowserDelegate, MCAdvertiserAssistantDelegate, MCBrowserViewControllerDelegate
  {
    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {}
    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {}
    func session(
      _ session: MCSession, didReceive stream: InputStream, withName streamName: String, fromPeer peerID: MCPeerID
    ) {}
    func session(
      _ session: MCSession, didStartReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
      with progress: Progress
    ) {}
    func session(
      _ session: MCSession, didFinishReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
      at localURL: URL?, withError error: (any Error)?
    ) {}
    func advertiser(
      _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID,
      withContext context: Data?, invitationHandler: @escaping (Bool, MCSession?) -> Void
    ) {}
    func browser(
      _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID, withDiscoveryInfo info: [String: String]?
    ) {}
    func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {}
    func browserViewControllerDidFinish(_ browserViewController: MCBrowserViewController) {}
    func browserViewControllerWasCancelled(_ browserViewController: MCBrowserViewController) {}
  }

  @Test("protocols, with the types of their methods")
  func protocols() {
    var names = Names()
    let least = Least()
    let session: any MCSessionDelegate = least
    names.name(
      "peer:didChange:", session.session(_:peer:didChange:), ((MCSession, MCPeerID, MCSessionState) -> Void).self)
    names.name(
      "didReceive:fromPeer:", session.session(_:didReceive:fromPeer:), ((MCSession, Data, MCPeerID) -> Void).self)
    names.name(
      "didReceive:withName:fromPeer:", session.session(_:didReceive:withName:fromPeer:),
      ((MCSession, InputStream, String, MCPeerID) -> Void).self)
    names.name(
      "didStartReceivingResource", session.session(_:didStartReceivingResourceWithName:fromPeer:with:),
      ((MCSession, String, MCPeerID, Progress) -> Void).self)
    names.name(
      "didFinishReceivingResource", session.session(_:didFinishReceivingResourceWithName:fromPeer:at:withError:),
      ((MCSession, String, MCPeerID, URL?, (any Error)?) -> Void).self)
    names.name(
      "didReceiveCertificate", session.session(_:didReceiveCertificate:fromPeer:certificateHandler:),
      ((MCSession, [Any]?, MCPeerID, @escaping (Bool) -> Void) -> Void).self)
    let advertiser: any MCNearbyServiceAdvertiserDelegate = least
    names.name(
      "didReceiveInvitation", advertiser.advertiser(_:didReceiveInvitationFromPeer:withContext:invitationHandler:),
      ((MCNearbyServiceAdvertiser, MCPeerID, Data?, @escaping (Bool, MCSession?) -> Void) -> Void).self)
    names.name(
      "didNotStartAdvertising", advertiser.advertiser(_:didNotStartAdvertisingPeer:),
      ((MCNearbyServiceAdvertiser, any Error) -> Void).self)
    let browser: any MCNearbyServiceBrowserDelegate = least
    names.name(
      "foundPeer", browser.browser(_:foundPeer:withDiscoveryInfo:),
      ((MCNearbyServiceBrowser, MCPeerID, [String: String]?) -> Void).self)
    names.name("lostPeer", browser.browser(_:lostPeer:), ((MCNearbyServiceBrowser, MCPeerID) -> Void).self)
    names.name(
      "didNotStartBrowsing", browser.browser(_:didNotStartBrowsingForPeers:),
      ((MCNearbyServiceBrowser, any Error) -> Void).self)
    let assistant: any MCAdvertiserAssistantDelegate = least
    names.name(
      "willPresent", assistant.advertiserAssistantWillPresentInvitation, ((MCAdvertiserAssistant) -> Void).self)
    names.name(
      "didDismiss", assistant.advertiserAssistantDidDismissInvitation, ((MCAdvertiserAssistant) -> Void).self)
    let controller: any MCBrowserViewControllerDelegate = least
    names.name("didFinish", controller.browserViewControllerDidFinish, ((MCBrowserViewController) -> Void).self)
    names.name("wasCancelled", controller.browserViewControllerWasCancelled, ((MCBrowserViewController) -> Void).self)
    names.name(
      "shouldPresent", controller.browserViewController(_:shouldPresentNearbyPeer:withDiscoveryInfo:),
      ((MCBrowserViewController, MCPeerID, [String: String]?) -> Bool).self)
    names.type((any MCSessionDelegate).self)
    names.type((any MCNearbyServiceAdvertiserDelegate).self)
    names.type((any MCNearbyServiceBrowserDelegate).self)
    names.type((any MCAdvertiserAssistantDelegate).self)
    names.type((any MCBrowserViewControllerDelegate).self)
    let view = MCBrowserViewController(serviceType: "a", session: MCSession(peer: MCPeerID(displayName: "Anna")))
    names.name(
      "controller.foundPeer", view.browser(_:foundPeer:withDiscoveryInfo:),
      ((MCNearbyServiceBrowser, MCPeerID, [String: String]?) -> Void).self)
    names.name("controller.lostPeer", view.browser(_:lostPeer:), ((MCNearbyServiceBrowser, MCPeerID) -> Void).self)
    #expect(names.seen.count == 23 && Set(names.seen).count == 23)
  }

  @Test("what is optional in the protocols has a default")
  func optionalMethods() {
    let least = Least()
    let session = MCSession(peer: MCPeerID(displayName: "Anna"))
    var isAccepted: Bool?
    (least as any MCSessionDelegate).session(
      session, didReceiveCertificate: nil, fromPeer: session.myPeerID, certificateHandler: { isAccepted = $0 })
    #expect(isAccepted == true)
    let advertiser = MCNearbyServiceAdvertiser(peer: session.myPeerID, discoveryInfo: nil, serviceType: "a")
    (least as any MCNearbyServiceAdvertiserDelegate).advertiser(
      advertiser, didNotStartAdvertisingPeer: MCError(.unknown))
    let browser = MCNearbyServiceBrowser(peer: session.myPeerID, serviceType: "a")
    (least as any MCNearbyServiceBrowserDelegate).browser(browser, didNotStartBrowsingForPeers: MCError(.unknown))
    let assistant = MCAdvertiserAssistant(serviceType: "a", discoveryInfo: nil, session: session)
    (least as any MCAdvertiserAssistantDelegate).advertiserAssistantWillPresentInvitation(assistant)
    (least as any MCAdvertiserAssistantDelegate).advertiserAssistantDidDismissInvitation(assistant)
    let controller = MCBrowserViewController(browser: browser, session: session)
    #expect(
      (least as any MCBrowserViewControllerDelegate).browserViewController(
        controller, shouldPresentNearbyPeer: session.myPeerID, withDiscoveryInfo: nil))
  }
}
