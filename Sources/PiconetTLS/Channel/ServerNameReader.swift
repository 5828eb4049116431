import CPiconetOpenSSL
import PiconetEngine

/// Reads from a ClientHello which server it is for, where several listen in one place, before one of them answers.
/// OpenSSL reads it, in a handshake that ends there. On any thread.
public final class ServerNameReader: Sendable {
  /// More bytes than this are not looked at. A ClientHello of ours has some 300, and with the names of authorities, as
  /// many as `TrustAnchors` takes, a few thousand.
  public static let byteLimit = 16 << 10

  // SSL_CTX counts its references atomically and is not changed after init; OpenSSL allows SSL_new on it from several
  // threads (openssl-threads(7)).
  private nonisolated(unsafe) let context: OpaquePointer?

  /// Without memory, it finds no name.
  public init() { context = piconet_client_hello_context() }

  deinit { SSL_CTX_free(context) }

  /// - Parameter bytes: all that has come so far.
  public func read(_ bytes: [UInt8]) -> ServerNameFinding {
    guard let context, bytes.count <= Self.byteLimit else { return .none }
    // Most come in one record, of which the header tells the length: no part of it is worth OpenSSL's time.
    if bytes.first == Self.handshakeRecord {
      guard bytes.count >= 5, bytes.count - 5 >= Int(bytes[3]) << 8 | Int(bytes[4]) else { return .incomplete }
    }
    var status = PICONET_CLIENT_HELLO_OTHER
    let name = String(unsafeUninitializedCapacity: Self.nameLimit) { name in
      var count = 0
      name.withMemoryRebound(to: CChar.self) {
        status = Int(piconet_client_hello_name(context, bytes, bytes.count, $0.baseAddress, $0.count, &count))
      }
      return count
    }
    return switch status {
    case PICONET_CLIENT_HELLO_INCOMPLETE: .incomplete
    case PICONET_CLIENT_HELLO_NAMED: .name(name)
    default: .none
    }
  }

  private static let nameLimit = 255
  /// The type of a record with a part of the handshake (RFC 8446, section 5.1).
  private static let handshakeRecord: UInt8 = 22
}
