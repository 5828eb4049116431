/// The node that an incoming link is for, according to its first bytes (SNI: RFC 6066, section 3).
public enum ServerNameFinding: Sendable, Hashable {
  /// More bytes are needed.
  case incomplete
  case name(String)
  /// The bytes name no node, or do not begin a TLS handshake.
  case none
}
