import Foundation

/// Advertises a session, and asks a person at the terminal about each invitation. Without a terminal it answers as
/// `UnattendedAnswer.ofProcess` says.
///
/// Source: `MCAdvertiserAssistant` of Multipeer Connectivity.
///
/// Unchecked, since it may be subclassed: what changes here has locks, and a subclass is responsible for variables that
/// it adds. It repeats the words, or the compiler warns.
open class MCAdvertiserAssistant: NSObject, @unchecked Sendable {
  private let advertiser: MCNearbyServiceAdvertiser
  private let asking: AssistantAnswers
  private let delegates = DelegateReference()
  private let advertised: MCSession

  /// Creates an assistant that does not advertise yet.
  /// - Parameters:
  ///   - serviceType: see `MCNearbyServiceAdvertiser`.
  ///   - info: see `MCNearbyServiceAdvertiser`.
  ///   - session: the session into which accepted inviters come.
  public init(serviceType: String, discoveryInfo info: [String: String]?, session: MCSession) {
    advertised = session
    advertiser = MCNearbyServiceAdvertiser(peer: session.myPeerID, discoveryInfo: info, serviceType: serviceType)
    asking = AssistantAnswers()
    super.init()
    asking.assistant = self
    advertiser.delegate = asking
  }

  /// The object that is told before and after a person is asked, on the main queue; not retained.
  open weak var delegate: (any MCAdvertiserAssistantDelegate)? {
    get { delegates.value as? any MCAdvertiserAssistantDelegate }
    set { delegates.value = newValue }
  }

  /// The session, as it was given.
  open var session: MCSession { advertised }
  /// The info, as it was given.
  open var discoveryInfo: [String: String]? { advertiser.discoveryInfo }
  /// The type, as it was given.
  open var serviceType: String { advertiser.serviceType }

  /// Starts advertising.
  open func start() { advertiser.startAdvertisingPeer() }

  /// Stops advertising.
  open func stop() { advertiser.stopAdvertisingPeer() }
}

/// The calls of an assistant to its owner.
public protocol MCAdvertiserAssistantDelegate: NSObjectProtocol {
  /// A person is about to be asked. Default: nothing.
  func advertiserAssistantWillPresentInvitation(_ advertiserAssistant: MCAdvertiserAssistant)
  /// A person has been asked. Default: nothing.
  func advertiserAssistantDidDismissInvitation(_ advertiserAssistant: MCAdvertiserAssistant)
}

extension MCAdvertiserAssistantDelegate {
  /// Does nothing.
  public func advertiserAssistantWillPresentInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {}
  /// Does nothing.
  public func advertiserAssistantDidDismissInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {}
}

/// Answers the advertiser of an assistant.
///
/// Unchecked: `assistant` is set once, before the advertiser has this.
private final class AssistantAnswers: NSObject, MCNearbyServiceAdvertiserDelegate, @unchecked Sendable {
  weak var assistant: MCAdvertiserAssistant?

  /// The parts of one question that other threads need.
  ///
  /// Unchecked: the handler may be called from any thread, once; an assistant's methods may be called from any.
  private struct Question: @unchecked Sendable {
    let assistant: MCAdvertiserAssistant
    let handler: (Bool, MCSession?) -> Void
  }

  func advertiser(
    _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID, withContext context: Data?,
    invitationHandler: @escaping (Bool, MCSession?) -> Void
  ) {
    guard let assistant else { return invitationHandler(false, nil) }
    let question = Question(assistant: assistant, handler: invitationHandler)
    let serviceType = advertiser.serviceType
    DispatchQueue.main.async {
      question.assistant.delegate?.advertiserAssistantWillPresentInvitation(question.assistant)
    }
    Task {
      let isAccepted = await PeerInterfaces.current.accepts(invitationOf: peerID, to: serviceType)
      question.handler(isAccepted, isAccepted ? question.assistant.session : nil)
      DispatchQueue.main.async {
        question.assistant.delegate?.advertiserAssistantDidDismissInvitation(question.assistant)
      }
    }
  }
}
