/// What the first bytes of an incoming link say of the node that it is for (SNI: RFC 6066, section 3).
public enum ServerNameFinding: Sendable, Hashable {
  /// It takes more bytes to know.
  case incomplete
  case name(String)
  /// The bytes name no node, or do not begin a TLS handshake.
  case none
}
