import PiconetWire

/// The reason why a channel could not be secured, or broke.
public struct SecureChannelFailure: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The bytes are not TLS, or break its rules.
    case protocolViolation
    /// No common version, cipher or ALPN: the remote side is not Piconet in a version that we speak.
    case noCommonProtocol
    /// The remote side sent no certificate, or a certificate that we can't use.
    case badCertificate
    /// The remote side closed with an alert.
    case alert
    /// Our own side failed: memory, key.
    case internalError
    /// Several nodes listen there, and none has the requested session (RFC 6066, section 3).
    case unrecognizedName

    /// A human-readable description.
    public var words: String {
      switch self {
      case .protocolViolation: "the other side does not keep to TLS"
      case .noCommonProtocol: "no protocol in common"
      case .badCertificate: "the other side's certificate can't be used"
      case .alert: "the other side has closed with an alert"
      case .internalError: "an error of this system"
      case .unrecognizedName: "no node of this session listens there"
      }
    }
  }
  public var code: Code
  public var detail: String

  public init(_ code: Code, _ detail: String = "") {
    self.code = code
    self.detail = detail
  }

  /// The detail, or the code in words if there is no detail.
  public var description: String { detail.isEmpty ? code.words : detail }
}

/// The state of a channel.
public enum SecureChannelState: Sendable, Hashable {
  case handshaking
  /// The handshake is done; `peer` is the proven fingerprint of the remote side's key.
  case secured(peer: PeerID)
  /// The remote side has closed in good order (close_notify).
  case ended
  case failed(SecureChannelFailure)
}

/// The port of link security: ciphertext in, plaintext out, and the other way round. It knows no socket.
///
/// It is confined to the loop that made it. Ciphertext for the remote side collects in the channel's output, also
/// during the handshake, and as an alert after a failure. The driver of the channel writes it to the link after each
/// call.
public protocol SecureChannel: AnyObject {
  var state: SecureChannelState { get }
  /// Starts the handshake: the dialling side's first flight appears in the output.
  func start()
  /// Takes a prefix of `ciphertext` and writes plaintext to `plaintext`. It takes all of the ciphertext unless
  /// `plaintext` is full. Plaintext appears only in state `secured`, and never contains a byte from before the end of
  /// the handshake.
  func open(_ ciphertext: UnsafeRawBufferPointer, into plaintext: UnsafeMutableRawBufferPointer)
    -> (taken: Int, produced: Int)
  /// Seals all bytes into the output, in as few records as the protocol allows. Only in state `secured`.
  func seal(_ plaintext: UnsafeRawBufferPointer)
  /// Ciphertext bytes that wait for the link.
  var outputCount: Int { get }
  /// Passes the waiting output to `body`, which returns how many bytes of it the link has taken.
  func drainOutput(_ body: (UnsafeRawBufferPointer) -> Int)
  /// Selects whether the memory for records is kept for the next record, as suits a busy link, or freed after each, as
  /// suits an idle one. At first it is freed.
  func keepBuffers(_ keeps: Bool)
  /// Puts a close_notify into the output.
  func close()
  /// Returns 32 bytes bound to this channel, which both ends derive alike and no third party can derive (RFC 8446,
  /// section 7.5).
  func exportedKey(label: String) -> [UInt8]
}

extension SecureChannel {
  public func keepBuffers(_ keeps: Bool) {}
}
