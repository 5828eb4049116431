import PiconetEngine
import PiconetTLS
import PiconetWire

/// Identities for all tests that don't care which.
let alice = try! DeviceIdentity.generate()
let bob = try! DeviceIdentity.generate()

/// Carries ciphertext to a channel in pieces of at most `chunk` bytes; gives the plaintext, read into a buffer of
/// `room`.
func carry(_ bytes: [UInt8], to channel: any SecureChannel, chunk: Int = .max, room: Int = 65536) -> [UInt8] {
  var plaintext: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: room)
  var offset = 0
  while offset < bytes.count {
    let end = min(bytes.count, offset + min(chunk, bytes.count))
    var produced = 0
    repeat {
      let outcome = bytes[offset..<end].withUnsafeBytes { piece in
        buffer.withUnsafeMutableBytes { channel.open(piece, into: $0) }
      }
      offset += outcome.taken
      produced = outcome.produced
      plaintext += buffer[..<produced]
      // A full buffer may leave plaintext inside; with room for none of it this would never end.
    } while produced == room && room > 0 || offset < end
  }
  return plaintext
}

func drain(_ channel: any SecureChannel, most: Int = .max) -> [UInt8] {
  var bytes: [UInt8] = []
  channel.drainOutput {
    bytes = Array($0.prefix(most))
    return bytes.count
  }
  return bytes
}

/// A dialling and an accepting channel, with an ideal link between them.
struct ChannelPair {
  let client: any SecureChannel
  let server: any SecureChannel
  let clientContext: OpenSSLContext
  let serverContext: OpenSSLContext

  init(
    client: OpenSSLContext.Options = .init(), server: OpenSSLContext.Options = .init(), serverName: String? = nil
  ) throws {
    clientContext = try OpenSSLContext(identity: alice, options: client)
    serverContext = try OpenSSLContext(identity: bob, options: server)
    self.client = clientContext.makeChannel(role: .client, serverName: serverName)
    self.server = serverContext.makeChannel(role: .server)
  }

  /// Carries whatever waits, until nothing more does.
  @discardableResult
  func settle(chunk: Int = .max, room: Int = 65536) -> (atClient: [UInt8], atServer: [UInt8]) {
    var atClient: [UInt8] = []
    var atServer: [UInt8] = []
    while client.outputCount > 0 || server.outputCount > 0 {
      atServer += carry(drain(client), to: server, chunk: chunk, room: room)
      atClient += carry(drain(server), to: client, chunk: chunk, room: room)
    }
    return (atClient, atServer)
  }

  func handshake(chunk: Int = .max) {
    client.start()
    server.start()
    settle(chunk: chunk)
  }

  static func secured(client: OpenSSLContext.Options = .init(), server: OpenSSLContext.Options = .init()) throws
    -> ChannelPair
  {
    let pair = try ChannelPair(client: client, server: server)
    pair.handshake()
    return pair
  }
}

func seal(_ bytes: [UInt8], in channel: any SecureChannel) { bytes.withUnsafeBytes { channel.seal($0) } }

func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) } }

extension SecureChannelState {
  var failureCode: SecureChannelFailure.Code? { if case .failed(let failure) = self { failure.code } else { nil } }
  var failure: SecureChannelFailure? { if case .failed(let failure) = self { failure } else { nil } }
}
