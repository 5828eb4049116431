import CPiconetOpenSSL
import PiconetEngine
import PiconetWire
import Testing

@testable import PiconetTLS

@Suite struct RecordTests {
  @Test(
    "a message of 1000 bytes becomes 1022 with AES-GCM and 1011 with CCM_8 and compact headers",
    arguments: [
      (OpenSSLContext.Preference.throughput, 22), (.shortRecords, 11),
    ])
  func overhead(preference: OpenSSLContext.Preference, bytes: Int) throws {
    let options = OpenSSLContext.Options(preference: preference)
    let pair = try ChannelPair.secured(client: options, server: options)
    for count in [1, 64, 1000, 16384] {
      seal(pattern(count), in: pair.client)
      #expect(pair.client.outputCount == count + bytes)
      #expect(pair.settle().atServer == pattern(count))
      seal(pattern(count), in: pair.server)
      #expect(pair.server.outputCount == count + bytes)
      #expect(pair.settle().atClient == pattern(count))
    }
  }

  private static let short = OpenSSLContext.Options(preference: .shortRecords)

  /// RFC 8446, section 5.2, and Documentation/wire-format.md, section 1.
  @Test("a compact header is the length of the record, with the high bit set, in the place of TLS's five bytes")
  func compactHeader() throws {
    let pair = try ChannelPair.secured(client: Self.short, server: Self.short)
    for count in [1, 118, 119, 1000, 16384] {
      seal(pattern(count), in: pair.client)
      let record = drain(pair.client)
      let length = count + 1 + 8
      #expect(record.count == 2 + length)
      #expect(record.prefix(2) == [0x80 | UInt8(length >> 8), UInt8(length & 0xFF)])
      #expect(carry(record, to: pair.server) == pattern(count))
    }
  }

  @Test("where headers may be compact, those of TLS are taken too, in any order")
  func headersOfBothKinds() throws {
    let pair = try ChannelPair.secured(client: Self.short, server: Self.short)
    var sent: [UInt8] = []
    var link: [UInt8] = []
    for number in 0..<40 {
      let bytes = pattern(number * 97 % 1500 + 1)
      sent += bytes
      seal(bytes, in: pair.client)
      let record = drain(pair.client)
      link += number % 3 == 0 ? [0x17, 3, 3, record[0] & 0x7F, record[1]] + record[2...] : record
    }
    #expect(carry(link, to: pair.server, chunk: 7) == sent)
  }

  @Test("where TLS's own headers were agreed on, a compact one is refused")
  func unagreedCompactHeader() throws {
    let pair = try ChannelPair.secured()
    seal(pattern(100), in: pair.client)
    let record = drain(pair.client)
    #expect(carry([0x80 | record[3], record[4]] + record[5...], to: pair.server).isEmpty)
    #expect(pair.server.state.failureCode == .protocolViolation)
  }

  @Test("whatever comes in the place of a compact record fails the channel, and says no byte", arguments: 0..<400)
  func hostileCompactRecords(seed: Int) throws {
    var dice = SeededRandom(seed: UInt64(seed))
    let pair = try ChannelPair.secured(client: Self.short, server: Self.short)
    seal(pattern(100), in: pair.client)
    var bytes = drain(pair.client)
    // Changes a bit of it, a byte of its header, or everything.
    switch seed % 3 {
    case 0: bytes[.random(in: bytes.indices, using: &dice)] ^= 1 << UInt8.random(in: 0..<8, using: &dice)
    case 1: bytes[.random(in: 0..<2, using: &dice)] ^= .random(in: 1...255, using: &dice)
    default: bytes = (0...Int.random(in: 1..<300, using: &dice)).map { _ in .random(in: 0...255, using: &dice) }
    }
    // If the length has grown, the record waits for the rest.
    bytes += pattern(33_000)
    #expect(carry(bytes, to: pair.server, chunk: .random(in: 1...600, using: &dice)).isEmpty)
    #expect(pair.server.state.failureCode == .protocolViolation)
  }

  @Test("a message of 64 bytes in a frame, secured, takes one slot over L2CAP")
  func oneSlot() throws {
    let pair = try ChannelPair.secured(client: Self.short, server: Self.short)
    seal(FrameEncoder.encode(.message(pattern(64)[...])), in: pair.client)
    // A 3-DH1 packet holds 83 bytes, four of which are L2CAP's header.
    #expect(pair.client.outputCount + 4 <= 83)
  }

  @Test("sides that prefer differently still agree on a suite")
  func mixedPreferences() throws {
    let short = OpenSSLContext.Options(preference: .shortRecords)
    for (client, server) in [(short, .init()), (.init(), short)] {
      let pair = try ChannelPair.secured(client: client, server: server)
      seal(pattern(10), in: pair.client)
      #expect(pair.client.outputCount == 32)
      #expect(pair.settle().atServer == pattern(10))
    }
  }

  @Test("records pass while buffers are kept, when they are given back, and in between, within a record too")
  func keptBuffers() throws {
    let pair = try ChannelPair.secured()
    for keeps in [true, true, false, true, false, false] {
      for channel in [pair.client, pair.server] { channel.keepBuffers(keeps) }
      for count in [1, 16_384, 40_000] {
        seal(pattern(count), in: pair.client)
        #expect(pair.settle().atServer == pattern(count))
      }
      // The first half of a record waits in a buffer, which must stay.
      seal(pattern(1000), in: pair.client)
      let sealed = drain(pair.client)
      #expect(carry(Array(sealed[..<500]), to: pair.server).isEmpty)
      pair.server.keepBuffers(false)
      pair.server.keepBuffers(keeps)
      #expect(carry(Array(sealed[500...]), to: pair.server) == pattern(1000))
    }
  }

  @Test("256 KiB become sixteen full records")
  func fullRecords() throws {
    let pair = try ChannelPair.secured()
    seal(pattern(256 << 10), in: pair.client)
    #expect(pair.client.outputCount == (256 << 10) + 16 * 22)
  }

  @Test(
    "a mebibyte each way (or 32 KiB, byte by byte) arrives whole, whatever the sizes of the buffers",
    arguments: [
      (1 << 20, 1), (1, 65536), (1, 16384), (16406, 16384), (16407, 16383), (1333, 777), (100_003, 5), (70_000, 40_000),
    ], [OpenSSLContext.Preference.throughput, .shortRecords])
  func oddBuffers(sizes: (chunk: Int, room: Int), preference: OpenSSLContext.Preference) throws {
    let (chunk, room) = sizes
    let options = OpenSSLContext.Options(preference: preference)
    let pair = try ChannelPair.secured(client: options, server: options)
    let bytes = pattern(min(chunk, room) < 10 ? 32 << 10 : 1 << 20)
    seal(bytes, in: pair.client)
    seal(bytes, in: pair.server)
    let arrived = pair.settle(chunk: chunk, room: room)
    #expect(arrived.atClient == bytes)
    #expect(arrived.atServer == bytes)
  }

  @Test("a full plaintext buffer leaves ciphertext with the caller, and the rest comes without any")
  func fullPlaintextBuffer() throws {
    let pair = try ChannelPair.secured()
    seal(pattern(30_000), in: pair.client)
    let bytes = drain(pair.client)
    var buffer = [UInt8](repeating: 0, count: 10_000)
    var plaintext: [UInt8] = []
    let first = bytes.withUnsafeBytes { piece in buffer.withUnsafeMutableBytes { pair.server.open(piece, into: $0) } }
    #expect(first.taken == 16406 && first.produced == 10_000)
    plaintext += buffer
    let second = bytes[first.taken...].withUnsafeBytes { piece in
      buffer.withUnsafeMutableBytes { pair.server.open(piece, into: $0) }
    }
    #expect(second.taken == bytes.count - first.taken && second.produced == 10_000)
    plaintext += buffer
    let third = buffer.withUnsafeMutableBytes {
      pair.server.open(UnsafeRawBufferPointer(start: nil, count: 0), into: $0)
    }
    #expect(third.taken == 0 && third.produced == 10_000)
    plaintext += buffer
    #expect(plaintext == pattern(30_000))
    let fourth = buffer.withUnsafeMutableBytes {
      pair.server.open(UnsafeRawBufferPointer(start: nil, count: 0), into: $0)
    }
    #expect(fourth.produced == 0 && pair.server.state == .secured(peer: alice.peer))
  }

  @Test("output that the link takes in parts stays in order")
  func partialDrain() throws {
    let pair = try ChannelPair.secured()
    var sent: [UInt8] = []
    var arrived: [UInt8] = []
    for round in 0..<200 {
      let bytes = pattern(round * 37 % 5000 + 1)
      sent += bytes
      seal(bytes, in: pair.client)
      arrived += carry(drain(pair.client, most: round * 61 % 4000), to: pair.server)
    }
    arrived += pair.settle().atServer
    #expect(arrived == sent)
  }

  @Test("a link that claims to take more, or less than nothing, is not believed")
  func wrongDrain() throws {
    let pair = try ChannelPair.secured()
    seal(pattern(10), in: pair.client)
    pair.client.drainOutput { _ in -5 }
    #expect(pair.client.outputCount == 32)
    pair.client.drainOutput { $0.count + 100 }
    #expect(pair.client.outputCount == 0)
    pair.client.drainOutput { _ in
      Issue.record("called with nothing to drain")
      return 0
    }
  }

  @Test("more output than the limit fails the channel instead of growing")
  func outputLimit() throws {
    let pair = try ChannelPair.secured(client: .init(outputLimit: 64 << 10))
    for _ in 0..<3 { seal(pattern(16384), in: pair.client) }
    #expect(pair.client.state == .secured(peer: bob.peer))
    seal(pattern(16384), in: pair.client)
    #expect(pair.client.state.failureCode == .internalError)
    #expect(pair.client.outputCount == 3 * 16406)
  }

  @Test(
    "a flipped byte anywhere in a record fails the channel and tells the remote side", arguments: [0, 1, 3, 5, 60, 121])
  func flippedByte(index: Int) throws {
    let pair = try ChannelPair.secured()
    seal(pattern(100), in: pair.client)
    seal(pattern(50), in: pair.client)
    var bytes = drain(pair.client)
    bytes[index] ^= 1
    // If the length has grown, the record waits for the rest.
    bytes += pattern(16384)
    #expect(carry(bytes, to: pair.server).isEmpty)
    #expect(pair.server.state.failureCode == .protocolViolation)
    #expect(pair.server.outputCount > 0)
    pair.settle()
    #expect(pair.client.state.failureCode == .alert)
  }

  @Test("a record said twice is refused")
  func replay() throws {
    let pair = try ChannelPair.secured()
    seal(pattern(100), in: pair.client)
    let bytes = drain(pair.client)
    #expect(carry(bytes, to: pair.server) == pattern(100))
    #expect(carry(bytes, to: pair.server).isEmpty)
    #expect(pair.server.state.failureCode == .protocolViolation)
  }

  @Test(
    "close_notify ends the remote side after all that was sealed before it; the other direction goes on",
    arguments: [OpenSSLContext.Preference.throughput, .shortRecords])
  func closeNotify(preference: OpenSSLContext.Preference) throws {
    let options = OpenSSLContext.Options(preference: preference)
    let pair = try ChannelPair.secured(client: options, server: options)
    seal(pattern(1000), in: pair.client)
    pair.client.close()
    pair.client.close()
    seal(pattern(5), in: pair.client)
    seal(pattern(2000), in: pair.server)
    let arrived = pair.settle()
    #expect(arrived.atServer == pattern(1000) && arrived.atClient == pattern(2000))
    #expect(pair.server.state == .ended)
    #expect(pair.client.state == .secured(peer: bob.peer))
    #expect(carry(pattern(100), to: pair.server, room: 0).isEmpty)
    #expect(pair.server.state == .ended)
    #expect(pair.server.exportedKey(label: "EXPORTER-a") == pair.client.exportedKey(label: "EXPORTER-a"))
    pair.server.close()
    pair.settle()
    #expect(pair.client.state == .ended)
  }

  @Test("a link cut within a record leaves the channel waiting: the link must report it")
  func cutWithinRecord() throws {
    let pair = try ChannelPair.secured()
    seal(pattern(1000), in: pair.client)
    #expect(carry(Array(drain(pair.client).dropLast()), to: pair.server).isEmpty)
    #expect(pair.server.state == .secured(peer: alice.peer))
  }

  @Test("closing within the handshake stops it without a word")
  func closeInHandshake() throws {
    let pair = try ChannelPair()
    pair.client.start()
    let hello = drain(pair.client)
    pair.server.close()
    #expect(carry(hello, to: pair.server, room: 0).isEmpty)
    #expect(pair.server.outputCount == 0 && pair.server.state == .handshaking)
  }

  @Test(
    "keys are renewed after so many records, unseen by the receiver",
    arguments: [(OpenSSLContext.Preference.throughput, 22), (.shortRecords, 11)])
  func ownKeyUpdate(preference: OpenSSLContext.Preference, overhead: Int) throws {
    let pair = try ChannelPair.secured(
      client: .init(preference: preference, recordsPerKey: 3), server: .init(preference: preference))
    var updates = 0
    for _ in 0..<10 {
      seal(pattern(100), in: pair.client)
      if pair.client.outputCount > 100 + overhead { updates += 1 }
      #expect(pair.settle().atServer == pattern(100))
    }
    #expect(updates == 3)
    seal(pattern(100_000), in: pair.client)
    #expect(pair.settle().atServer == pattern(100_000))
  }

  @Test("a key update and tickets of the remote side change nothing; an update asked for is answered")
  func postHandshakeMessages() throws {
    let client = try OpenSSLContext(identity: alice).makeChannel(role: .client)
    // This server sends two tickets, as OpenSSL does by default.
    let peer = RawPeer(.init(isClient: false, certificate: (bob.key, bob.certificate)))
    peer.handshake(with: client)
    peer.write(pattern(10))
    #expect(carry(peer.takeOutput(), to: client) == pattern(10))
    for _ in 0..<20 {
      SSL_key_update(peer.ssl, SSL_KEY_UPDATE_REQUESTED)
      peer.write(pattern(20))
      #expect(carry(peer.takeOutput(), to: client) == pattern(20))
      seal(pattern(30), in: client)
      peer.give(drain(client))
      #expect(peer.read().bytes == pattern(30))
    }
  }

  @Test("a flood of key updates fails the channel before it costs much")
  func keyUpdateFlood() throws {
    let client = try OpenSSLContext(identity: alice).makeChannel(role: .client)
    let peer = RawPeer(.init(isClient: false, certificate: (bob.key, bob.certificate)))
    peer.handshake(with: client)
    var flood: [UInt8] = []
    for _ in 0..<1000 {
      SSL_key_update(peer.ssl, SSL_KEY_UPDATE_REQUESTED)
      SSL_do_handshake(peer.ssl)
      flood += peer.takeOutput()
    }
    #expect(flood.count >= 1000 * 27)
    #expect(carry(flood, to: client).isEmpty)
    #expect(client.state.failureCode == .protocolViolation)
    #expect(client.outputCount <= 27 * OpenSSLChannel.postHandshakeMessageLimit)
  }

  @Test("the output buffer shrinks when only small records follow bulk, and never while bulk lasts")
  func shrinking() {
    var io = piconet_channel_io()
    io.output_limit = 1 << 20
    defer { piconet_channel_io_free(&io) }
    func flush(_ count: Int) {
      #expect(piconet_channel_io_reserve(&io, count) == 1)
      io.output_end += count
      piconet_channel_io_drained(&io, count)
    }
    for _ in 0..<100 { flush(300_000) }
    #expect(io.output_capacity == 300_000)
    for _ in 1..<PICONET_OUTPUT_SMALL_FLUSHES { flush(100) }
    #expect(io.output_capacity == 300_000)
    flush(100)
    #expect(io.output_capacity == PICONET_OUTPUT_LEAST)
    #expect(piconet_channel_io_reserve(&io, 1 << 20) == 1)
    #expect(piconet_channel_io_reserve(&io, 1 << 20 + 1) == 0)
  }
}
