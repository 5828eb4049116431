/// The limits of fields, in bytes unless stated otherwise. Negotiated limits are in `PeerLimits`.
public enum WireLimits {
  /// The smallest limit for a frame's body that a hello may state.
  public static let smallestFrame = 1024
  /// The body length that every frame except messages, chunks and stream data may have, whatever the limit. So no peer
  /// can state a limit that keeps it from being invited or offered something. The longest such frame is an invitation
  /// by code with its context.
  public static let controlFrame = 8272
  /// The longest body that the length field of version 1 may announce at all.
  public static let largestFrame = 1 << 20
  /// The display name of a peer: the 63 bytes that Multipeer Connectivity allows, and room for an id after it.
  public static let name = 127
  public static let sessionID = 127
  /// The data for the application in a hello.
  public static let greeting = 1_024
  /// The cost of a reliable message in the message window on top of its bytes, so that empty messages are bounded too.
  public static let messageCost = 32
  /// The smallest window of a channel other than 0 that a hello may state.
  public static let channelWindow = 1_024
  /// Context data of an invitation.
  public static let context = 8192
  /// The number of one side's invitations that have no answer yet, including withdrawn ones.
  public static let unansweredInvitations = 8
  /// The explanation after a reason.
  public static let detail = 255
  /// The raw name of a resource. It is longer than any file system allows, so that a refusal can name its reason.
  public static let resourceName = 1024
  /// The folders of a resource, slashes included.
  public static let resourceFolder = 2_048
  /// The part of an offer about the files that the resource belongs to.
  public static let resourceGroup = 512
  /// The path under which a receiver has stored a resource: folders and name, with numbers that may have been added.
  public static let storedPath = 4_096
  /// The number of transports in a `listening`.
  public static let listeningPorts = 8
  /// The number of addresses in an `introduce`.
  public static let introducedAddresses = 8
  /// The number of bytes of a host in such an address: those of an IPv6 address.
  public static let introducedHost = 16
  /// Introductions of one side that have no answer yet.
  public static let unansweredIntroductions = 64
  /// The number of members in a `groupView`.
  public static let groupMembers = 1_023
  public static let mediaType = 127
  /// All metadata of a resource together.
  public static let metadata = 4096
  /// The sender's identity of a resource's content.
  public static let contentIdentity = 64
  /// Transfer numbers are below this, so that a chunk's number takes at most two bytes.
  public static let transferNumbers: UInt64 = 1 << 14
  /// The name of a stream.
  public static let streamName = 1024
  /// Stream numbers are below this, so that the number in front of data takes at most two bytes.
  public static let streamNumbers: UInt64 = 1 << 14
  /// Tunnel numbers are below this, so that the number in front of data takes at most two bytes.
  public static let tunnelNumbers: UInt64 = 1 << 14
  /// Bytes of a tunnel in each direction before its first credit.
  public static let tunnelWindow: UInt64 = 8 << 10
  /// The number of relays between the two ends of a tunnel.
  public static let relays: UInt64 = 3
  /// The number of tunnels of one side between two members at once.
  public static let tunnels = 16
  /// The number of parameters in a hello, and of fields in an offer.
  public static let parameters = 64
  /// The silence that a hello may state, in milliseconds. Within it, a peer can neither make us ping more than a few
  /// times a second nor overflow a deadline.
  public static let silence: ClosedRange<UInt64> = 1_000...86_400_000
}
