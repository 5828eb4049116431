import PiconetWire

/// The properties of a link, fixed for its whole life.
public struct LinkTraits: Sendable, Hashable {
  /// The transport that it runs over.
  public var kind: TransportKind
  /// The remote address as a person reads it, such as `192.168.1.7:49152`.
  public var remoteAddress: String
  /// The local address as a person reads it.
  public var localAddress: String
  /// Whether one write is one packet on the way (L2CAP). Even then one read need not be one packet.
  public var isPacket: Bool
  /// The maximum number of bytes that one write takes; `Int.max` for a byte stream.
  public var largestWrite: Int
  /// The maximum number of bytes that may wait ahead of the kernel, so that a short message does not wait behind bulk
  /// for long. Nil: as many as the engine's configuration allows.
  public var transmitWindow: Int?
  /// The maximum number of bytes that may have come and not been read. Anything beyond is lost, and the link with it.
  /// Nil: the link itself holds the remote side back. (L2CAP in basic mode has no flow control: Core 5.4, Vol 3 Part A
  /// 2.4.)
  public var unreadLimit: Int?
  /// The members that relay it, as far as we know them. The first leads to the remote side; the others are those over
  /// which the first is reached. Empty for a link of a real transport.
  public var relays: [NodeID] = []
  /// The number of relays between the two ends.
  public var relayCount = 0

  /// Makes the traits of a link that no member relays.
  public init(
    kind: TransportKind, remoteAddress: String, localAddress: String = "", isPacket: Bool = false,
    largestWrite: Int = .max, transmitWindow: Int? = nil, unreadLimit: Int? = nil
  ) {
    self.kind = kind
    self.remoteAddress = remoteAddress
    self.localAddress = localAddress
    self.isPacket = isPacket
    self.largestWrite = largestWrite
    self.transmitWindow = transmitWindow
    self.unreadLimit = unreadLimit
  }

  /// The remote address without the port or channel, which differs from link to link.
  public var remoteHost: String {
    let end = kind == .tcp ? remoteAddress.lastIndex(of: ":") : remoteAddress.firstIndex(of: "/")
    return String(remoteAddress[..<(end ?? remoteAddress.endIndex)])
  }
}

/// The outcome of one read.
public enum LinkRead: Sendable, Hashable {
  /// This many bytes came, at least one.
  case bytes(Int)
  /// Nothing has come yet. The handler is called when something comes.
  case wouldBlock
  /// The remote side has closed in good order.
  case end
  /// The link is gone.
  case failed(LinkFailure)
}

/// The outcome of one write.
public enum LinkWrite: Sendable, Hashable {
  /// This many bytes were taken, perhaps fewer than given.
  case bytes(Int)
  /// Nothing is taken now. The handler is called when the link takes bytes again.
  case wouldBlock
  /// The link is gone.
  case failed(LinkFailure)
}

/// Why a dial or a link failed, in terms that apply to every transport.
public struct LinkFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of failure; `words` describes each.
  @nonexhaustive
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The device is there, but nothing listens at that port, PSM or channel.
    case refused
    /// No network or adapter leads to the address.
    case unreachable
    /// Nothing came back within the transport's time.
    case timedOut
    /// The remote side, or something in between, broke off the connection.
    case reset
    /// The adapter or the remote device can't take a connection at this moment.
    case busy
    /// The device answers, but has no record of Piconet's service.
    case noService
    /// The device does not answer.
    case hostDown
    /// Bluetooth pairing or encryption failed.
    case authentication
    /// The system does not let this user do it.
    case permission
    /// The transport can't be used on this machine.
    case notAvailable
    /// We have ended it ourselves.
    case cancelled
    /// This process, or the system, has no file descriptor left.
    case tooManyDescriptors
    /// Any other failure; the detail has the system's words.
    case other
    /// The adapter, or the remote side's adapter, has reached its limit of links: 7 active ones over Bluetooth.
    case connectionLimit

    /// A human-readable description.
    public var words: String {
      switch self {
      case .refused: "nobody listens there"
      case .unreachable: "no way leads there"
      case .timedOut: "no answer in time"
      case .reset: "the other side has broken off"
      case .busy: "busy"
      case .noService: "the device does not offer the service"
      case .hostDown: "the device is not there"
      case .authentication: "the devices could not authenticate each other"
      case .permission: "not permitted"
      case .notAvailable: "not available here"
      case .cancelled: "cancelled"
      case .tooManyDescriptors: "too many open files"
      case .connectionLimit: "as many connections as there can be"
      case .other: "it failed"
      }
    }
  }
  /// The kind of failure, for programs: what to do next depends only on this.
  public var code: Code
  /// The system's own message, for logs and human readers; never parsed.
  public var detail: String

  /// Makes a failure of this kind. Without a detail, its words are the description.
  public init(_ code: Code, _ detail: String = "") {
    self.code = code
    self.detail = detail
  }

  /// The detail, or the code in words if there is no detail.
  public var description: String { detail.isEmpty ? code.words : detail }
}

/// The port of one connection, before TLS: a non-blocking pipe of bytes. It is confined to the loop that made it.
///
/// After `close` nothing else may be called, and no handler is called any more.
public protocol LinkEndpoint: AnyObject {
  /// The traits that the engine has to know. They stay the same.
  var traits: LinkTraits { get }
  /// Reads the bytes that have come, at most as many as the buffer holds.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> LinkRead
  /// Writes a prefix of the bytes; a partial write is normal.
  func write(_ bytes: UnsafeRawBufferPointer) -> LinkWrite
  /// Selects the readiness that the handler is told of, on the loop: that the link can be read, or written. Only
  /// selected readiness wakes the loop. A failed link counts as readable.
  func setReadiness(read: Bool, write: Bool)
  /// Sets the handler of readiness. Before that, readiness is not reported.
  func setHandler(_ handler: any LinkEndpointHandler)
  /// How much bulk may be written now without delaying a later message; nil: as much as the link takes. When the room
  /// grows again, the handler is told that the link can be written.
  var bulkPace: BulkPace? { get }
  /// Closes the link. `abort` discards unsent bytes and tells the remote side so (TCP: RST). Without it, the close is
  /// orderly.
  func close(abort: Bool)
}

extension LinkEndpoint {
  /// No limit: bulk may take as much as the link takes.
  public var bulkPace: BulkPace? { nil }
}

/// How much bulk a link takes.
public struct BulkPace: Sendable, Hashable {
  /// Bytes that the link takes now.
  public var room: Int
  /// Bytes that the link takes when nothing is in flight: as many as the path carries without a noticeable delay.
  public var bound: Int

  /// Makes the pace of a link that takes this much.
  public init(room: Int, bound: Int) {
    self.room = room
    self.bound = bound
  }
}

/// The handler of a link endpoint's readiness; called on the loop. The endpoint holds it until it is closed, or weakly.
public protocol LinkEndpointHandler: AnyObject {
  /// Reports that the link can be read, or written, or both. This may no longer be true by the time of this call.
  func linkIsReady(read: Bool, write: Bool)
}
