import Piconet
import PiconetCalls

/// The options with which AllJoyn binds a session port, or joins one.
public struct SessionOptions: Sendable, Hashable {
  /// The traffic of the session.
  @nonexhaustive
  public enum Traffic: Sendable, Hashable {
    /// Calls, signals and messages.
    case messages
    /// Bytes without boundaries: `Node.rawBytes(with:)`.
    case raw
  }

  /// How far away members may be.
  @nonexhaustive
  public enum Proximity: Sendable, Hashable {
    /// Programs of this machine alone, over its loopback interface.
    case device
    /// Devices that a transport reaches, and none behind a relay.
    case network
    /// Those behind a relay as well, if the node has `relay` among its transports.
    case any
  }

  /// The traffic, on which both sides have to agree. Default: messages.
  public var traffic = Traffic.messages
  /// Whether there may be more than two members. Point-to-point refuses a third with `full`. Default true.
  public var isMultipoint = true
  /// The distance of members. Default: any.
  public var proximity = Proximity.any
  /// The transports that may be used; nil, the default: those of the node's configuration.
  public var transports: Set<TransportKind>?

  /// Creates the defaults: messages, for many, at any distance.
  public init() {}

  /// Creates options that differ from the defaults.
  public init(
    _ traffic: Traffic, isMultipoint: Bool = true, proximity: Proximity = .any, transports: Set<TransportKind>? = nil
  ) {
    self.traffic = traffic
    self.isMultipoint = isMultipoint
    self.proximity = proximity
    self.transports = transports
  }
}

extension NodeConfiguration {
  /// Sets the parts of the configuration that make up these options: `capacity`, `transports`, and for `device` also
  /// `interfaces` and `listen`. Call it before the node starts, and after you set those parts otherwise. If no
  /// transport is left, the node does not start.
  public mutating func apply(_ options: SessionOptions) {
    if !options.isMultipoint { capacity = 2 }
    if let chosen = options.transports { transports.removeAll { !chosen.contains($0) } }
    switch options.proximity {
    case .any: break
    case .network: transports.removeAll { $0 == .relay }
    case .device:
      transports.removeAll { $0 != .tcp }
      interfaces = ["lo"]
      listen = "127.0.0.1:0"
    }
  }
}

/// The wishes of an inviter that wants to join.
public struct JoinRequest: Sendable, Hashable {
  /// The traffic that it wants.
  public let traffic: SessionOptions.Traffic
  /// Free data; its own words.
  public let context: [UInt8]

  private static let mark = "piconet.session"

  init(_ traffic: SessionOptions.Traffic, _ context: [UInt8]) {
    self.traffic = traffic
    self.context = context
  }

  /// Reads the request from the context of an invitation; nil if that contains something else.
  init?(_ context: [UInt8]) {
    guard let item = try? CBORValue(decoding: context[...]), case .array(let fields) = item, fields.count >= 3,
      fields[0] == .text(Self.mark), case .unsigned(let traffic) = fields[1], case .bytes(let rest) = fields[2]
    else { return nil }
    self.init(traffic == 1 ? .raw : .messages, Array(rest))
  }

  var encoded: [UInt8] {
    CBORValue.array([.text(Self.mark), .unsigned(traffic == .raw ? 1 : 0), .bytes(context)]).encoded
  }
}

extension Node {
  /// Joins the session of a peer in sight: invites it, and tells it what is wanted. The peer decides with
  /// `Invitation.accept(joining:)`.
  /// - Parameters:
  ///   - peer: one of `peers`.
  ///   - options: the wishes. Those that concern this node, such as its transports, are set in its configuration
  ///     (`NodeConfiguration.apply`).
  ///   - context: free data for the peer, at most 8,000 bytes.
  ///   - timeout: the time for the whole attempt. Default 30 s.
  /// - Throws: see `invite`; `notWanted` if the session is for other traffic, `full` if it has no place.
  public func join(
    _ peer: Peer, _ options: SessionOptions, context: [UInt8] = [], timeout: Duration = .seconds(30)
  ) async throws(PiconetError) -> Member {
    try await invite(
      peer, context: try Self.context(options, context), timeout: timeout)
  }

  /// Joins the session of the node at an address, as above.
  /// - Parameters:
  ///   - address: see `invite(at:)`.
  ///   - options: the wishes.
  ///   - context: free data for the peer, at most 8,000 bytes.
  ///   - timeout: the time for the whole attempt. Default 30 s.
  /// - Throws: see above.
  public func join(
    at address: String, _ options: SessionOptions, context: [UInt8] = [], timeout: Duration = .seconds(30)
  ) async throws(PiconetError) -> Member {
    try await invite(at: address, context: try Self.context(options, context), timeout: timeout)
  }

  private static func context(_ options: SessionOptions, _ context: [UInt8]) throws(PiconetError) -> [UInt8] {
    guard context.count <= 8_000 else {
      throw PiconetError(
        .invalidArgument, blame: .us,
        detail: "a context of \(context.count) bytes; at most 8000 go with a request to join")
    }
    return JoinRequest(options.traffic, context).encoded
  }
}

extension Invitation {
  /// The wishes of the inviter; nil if it has not stated them, as one that uses `Node.invite`.
  public var joining: JoinRequest? { JoinRequest(context) }

  /// Lets the joiner in if it wants the traffic of the session; otherwise declines with `notWanted`. A joiner that has
  /// not stated its wishes wants messages. To refuse a joiner for another reason, use `decline`.
  /// - Parameter options: the options of this session.
  /// - Throws: `notWanted`; otherwise see `accept`, such as `full` if a point-to-point session has its two members.
  @discardableResult
  public func accept(joining options: SessionOptions) async throws(PiconetError) -> Member {
    guard (joining?.traffic ?? .messages) == options.traffic else {
      await decline(.notWanted)
      throw PiconetError(
        .notWanted, peer: peer.id, blame: .peer,
        detail: options.traffic == .raw
          ? "it wants messages, and the session is for raw bytes"
          : "it wants raw bytes, and the session is for messages")
    }
    return try await accept()
  }
}
