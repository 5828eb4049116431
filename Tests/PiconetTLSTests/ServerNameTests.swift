import PiconetEngine
import PiconetTLS
import Testing

@Suite("The name of the server in a ClientHello")
struct ServerNameTests {
  static let name = "5069636f-6e65-4000-8000-0123456789ab"

  /// What a client sends first.
  static func clientHello(_ preference: OpenSSLContext.Preference, naming name: String?) throws -> [UInt8] {
    let options = OpenSSLContext.Options(preference: preference)
    let channel = try OpenSSLContext(identity: alice, options: options).makeChannel(role: .client, serverName: name)
    channel.start()
    return drain(channel)
  }

  @Test(
    "it is found once the message is whole, and not before",
    arguments: [OpenSSLContext.Preference.throughput, .shortRecords])
  func whole(_ preference: OpenSSLContext.Preference) throws {
    let reader = ServerNameReader()
    let bytes = try Self.clientHello(preference, naming: Self.name)
    for count in 0..<bytes.count { #expect(reader.read(Array(bytes[..<count])) == .incomplete, "of \(count) bytes") }
    #expect(reader.read(bytes) == .name(Self.name))
    // What comes behind it is the server's.
    #expect(reader.read(bytes + [1, 2, 3]) == .name(Self.name))
  }

  @Test("a client that names no server, and bytes that are no TLS, have no server name")
  func none() throws {
    let reader = ServerNameReader()
    #expect(reader.read(try Self.clientHello(.throughput, naming: nil)) == .none)
    #expect(reader.read(Array("GET / HTTP/1.1\r\n\r\n".utf8)) == .none)
    #expect(reader.read([UInt8](repeating: 0x16, count: ServerNameReader.byteLimit + 1)) == .none)
    // A record that never becomes a message ends at the limit.
    #expect(reader.read([0x16, 3, 1, 0x40, 0]) == .incomplete)
  }

  @Test("changed bytes are read as a name, as none, or as a part, and never trap; the handshake is not disturbed")
  func changed() throws {
    let reader = ServerNameReader()
    let bytes = try Self.clientHello(.shortRecords, naming: Self.name)
    var random = SeededRandom(seed: 13)
    var found: Set<ServerNameFinding> = []
    for _ in 0..<20_000 {
      var changed = bytes
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        changed[Int.random(in: 0..<changed.count, using: &random)] = .random(in: 0...255, using: &random)
      }
      found.insert(reader.read(changed))
    }
    #expect(found.isSuperset(of: [.none, .incomplete, .name(Self.name)]))
    let names = found.compactMap { if case .name(let name) = $0 { name } else { nil } }
    #expect(names.allSatisfy { $0.utf8.count <= 255 * 3 })
  }

  @Test("a server that is dialled under a name is secured as ever")
  func secured() throws {
    let pair = try ChannelPair(serverName: Self.name)
    pair.client.start()
    pair.settle()
    #expect(pair.client.state == .secured(peer: bob.peer) && pair.server.state == .secured(peer: alice.peer))
  }
}
