import COpenSSL
import PiconetEngine
import PiconetSDP

extension BluetoothUUID {
  /// Returns the version 5 UUID (RFC 9562, section 5.5) of a name within a namespace.
  /// - Throws: if this OpenSSL has no SHA-1.
  public static func version5(namespace: BluetoothUUID, name: some Sequence<UInt8>) throws(LinkFailure) -> BluetoothUUID
  {
    let input = namespace.bytes + Array(name)
    var digest = [UInt8](repeating: 0, count: 20)
    guard SHA1(input, input.count, &digest) != nil, let uuid = BluetoothUUID(version5: digest) else {
      throw LinkFailure(.notAvailable, "OpenSSL has no SHA-1, from which the service's UUID is made")
    }
    return uuid
  }

  /// Returns the service UUID of a session: nodes with the same session id use it to find each other.
  public static func session(_ sessionID: String) throws(LinkFailure) -> BluetoothUUID {
    try version5(namespace: .sessionNamespace, name: sessionID.utf8)
  }
}
