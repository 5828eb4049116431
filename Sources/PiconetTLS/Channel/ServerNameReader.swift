import CPiconetOpenSSL
import PiconetEngine

/// Reads the name of the wanted server from a ClientHello, where several servers listen in one place, before one of
/// them answers. OpenSSL reads it, in a handshake that ends there. Any thread may use it.
public final class ServerNameReader: Sendable {
  /// The most bytes that are examined. A ClientHello of Piconet has some 300 bytes; with the names of as many
  /// authorities as `TrustAnchors` takes, a few thousand.
  public static let byteLimit = 16 << 10

  // SSL_CTX counts its references atomically and is not changed after init; OpenSSL allows SSL_new on it from several
  // threads (openssl-threads(7)).
  private nonisolated(unsafe) let context: OpaquePointer?

  /// Creates a reader. If memory runs out, it finds no name.
  public init() { context = piconet_client_hello_context() }

  deinit { SSL_CTX_free(context) }

  /// - Parameter bytes: all bytes that have come so far.
  public func read(_ bytes: [UInt8]) -> ServerNameFinding {
    guard let context, bytes.count <= Self.byteLimit else { return .none }
    // Most come in one record, whose header tells the length: OpenSSL is not called for a part of it.
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
