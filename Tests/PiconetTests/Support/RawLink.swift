import Foundation
import Glibc
import PiconetEngine
import PiconetTLS
import PiconetWire

/// A peer made by hand: a blocking socket, TLS, and whatever bytes a test wants. It waits at most `patience` for
/// anything.
final class RawLink: @unchecked Sendable {
  // Sendable is right: one thread at a time uses it, the one that a test runs on.

  struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  static let patience = 20

  let socket: Int32
  let identity: DeviceIdentity
  let incarnation: Incarnation
  let channel: any SecureChannel
  let isDialler: Bool
  private var decoder = FrameDecoder(frameLimit: 16_381)
  private(set) var hasEnded = false

  /// Takes over a connected socket.
  init(socket: Int32, isDialler: Bool, identity: DeviceIdentity? = nil) throws {
    self.socket = socket
    self.isDialler = isDialler
    let identity = try identity ?? DeviceIdentity.generate()
    self.identity = identity
    incarnation = Incarnation(rawValue: UInt64.random(in: 0...(.max)))
    channel = try OpenSSLContext(identity: identity).makeChannel(role: isDialler ? .client : .server)
    var time = timeval(tv_sec: Self.patience, tv_usec: 0)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
  }

  /// Connects without sending a byte.
  convenience init(to address: String, identity: DeviceIdentity? = nil) throws {
    try self.init(socket: Self.connect(to: address), isDialler: true, identity: identity)
  }

  deinit { Glibc.close(socket) }

  static func connect(to address: String) throws -> Int32 {
    let port = try port(of: address)
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard socket >= 0 else { throw Failure("socket: \(errno)") }
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_port = port.bigEndian
    name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &name) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else {
      let error = errno
      Glibc.close(socket)
      throw Failure("connect: \(error)")
    }
    return socket
  }

  static func port(of address: String) throws -> UInt16 {
    guard let text = address.split(separator: ":").last, let port = UInt16(text) else { throw Failure(address) }
    return port
  }

  var id: NodeID { NodeID(peer: identity.peer, incarnation: incarnation) }

  // MARK: Bytes

  /// Below TLS.
  func write(raw bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else {
        hasEnded = true
        throw Failure("send: \(errno)")
      }
      sent += count
    }
  }

  /// Below TLS; empty at the end of the connection, also at a reset.
  func readRaw() throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = recv(socket, &bytes, bytes.count, 0)
    if count < 0, errno == EAGAIN { throw Failure("nothing came in \(Self.patience) s") }
    if count <= 0 { hasEnded = true }
    return Array(bytes.prefix(max(0, count)))
  }

  /// The lengths of the records of data that have come, without their headers.
  private(set) var records: [Int] = []
  /// Bytes of a record of data beside its content: content type and tag.
  static let recordOverhead = 17
  private var unparsed: [UInt8] = []

  private func note(_ bytes: [UInt8]) {
    unparsed += bytes
    while unparsed.count >= 5 {
      let length = Int(unparsed[3]) << 8 | Int(unparsed[4])
      guard unparsed.count >= 5 + length else { return }
      if unparsed[0] == 23 { records.append(length) }
      unparsed.removeFirst(5 + length)
    }
  }

  private func flush() throws {
    var output: [UInt8] = []
    channel.drainOutput { bytes in
      output.append(contentsOf: bytes)
      return bytes.count
    }
    if !output.isEmpty { try write(raw: output) }
  }

  // MARK: TLS

  /// Does the TLS handshake.
  func secure() throws {
    channel.start()
    try flush()
    while true {
      switch channel.state {
      case .secured: return try flush()
      case .failed, .ended: throw Failure("TLS: \(channel.state)")
      case .handshaking: break
      }
      let bytes = try readRaw()
      if bytes.isEmpty { throw Failure("ended during the TLS handshake") }
      try open(bytes)
      try flush()
    }
  }

  private func open(_ bytes: [UInt8]) throws {
    note(bytes)
    try bytes.withUnsafeBytes { bytes in
      var rest = bytes
      while true {
        var produced = 0
        let plaintext = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
          let result = channel.open(rest, into: UnsafeMutableRawBufferPointer(buffer))
          rest = UnsafeRawBufferPointer(rebasing: rest[result.taken...])
          produced = result.produced
          count = produced
        }
        if produced > 0 { decoder.push(plaintext[...]) }
        if rest.isEmpty, produced < 65_536 { return }
        if case .failed = channel.state { throw Failure("TLS: \(channel.state)") }
      }
    }
  }

  /// Above TLS.
  func write(_ bytes: [UInt8]) throws {
    bytes.withUnsafeBytes { channel.seal($0) }
    try flush()
  }

  // MARK: Frames

  func send(_ frames: Frame...) throws { try write(frames.flatMap { FrameEncoder.encode($0) }) }

  private var waiting: [Frame] = []

  /// The next frame; nil at the end of the link. Pings are answered.
  func next() throws -> Frame? {
    while true {
      while let frame = try decoder.next() {
        if case .ping(let token) = frame {
          try? send(.pong(token))
          continue
        }
        return frame
      }
      if hasEnded { return nil }
      if case .ended = channel.state { return nil }
      try open(try readRaw())
    }
  }

  /// Skips to the frame that `match` takes, and gives what it makes of it.
  func wait<Value>(for what: String, _ match: (Frame) -> Value?) throws -> Value {
    while let frame = try next() {
      if let value = match(frame) { return value }
      if case .close(let reason, let detail) = frame { throw Failure("no \(what), but the end: \(reason) \(detail)") }
    }
    throw Failure("the link ended without \(what)")
  }

  /// Reads to the end of the link, and gives the reason that the remote side has stated, if any.
  func readToEnd() throws -> (reason: Reason, detail: String)? {
    var said: (Reason, String)?
    do {
      while let frame = try next() {
        if case .close(let reason, let detail) = frame { said = (reason, detail) }
      }
    } catch let failure as Failure where hasEnded {
      _ = failure
    }
    return said
  }

  // MARK: Piconet

  let nonce = (try? ShortCode.makeNonce()) ?? []

  /// Commits to `nonce`.
  func invite(_ terms: InvitationTerms = []) -> Frame {
    .invite(Invite(timeout: 20_000, terms: terms, commitment: ShortCode.commitment(to: nonce)))
  }

  func hello(_ change: (inout Hello) -> Void = { _ in }) -> Hello {
    var hello = Hello(incarnation: incarnation, name: "Raw", sessionID: "test")
    change(&hello)
    return hello
  }

  /// From the start of TLS to an association.
  func associate(_ change: (inout Hello) -> Void = { _ in }) throws {
    try secure()
    if isDialler { try send(.hello(hello(change))) }
    let far = try wait(for: "hello") { if case .hello(let hello) = $0 { hello } else { nil } }
    if !isDialler { try send(.hello(hello(change))) }
    guard case .secured(let peer) = channel.state else { throw Failure("not secured") }
    if NodeID(peer: peer, incarnation: far.incarnation) < id {
      _ = try wait(for: "associate") { if case .associate = $0 { true } else { nil } }
      try send(.associated(received: 0, begun: 1))
    } else {
      try send(.associate(AssociationID(high: 1, low: UInt64.random(in: 0...(.max))), received: 0))
      _ = try wait(for: "associated") { if case .associated = $0 { true } else { nil } }
    }
  }

  /// From nothing to membership in a session that accepts everybody.
  func join(_ change: (inout Hello) -> Void = { _ in }) throws {
    try associate(change)
    try send(invite())
    _ = try wait(for: "accept") { if case .accept = $0 { true } else { nil } }
    // The answer shows that the node has heard of its member.
    try send(.admit, .ping(.max >> 2))
    _ = try wait(for: "pong") { if case .pong = $0 { true } else { nil } }
  }
}

/// A listening socket whose connections a test accepts by hand.
final class RawListener: @unchecked Sendable {
  // Sendable is right: constant after `init`.
  let socket: Int32
  let address: String

  init(backlog: Int32 = 16) throws {
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let socket = socket
    let result = withUnsafeMutablePointer(to: &name) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
        bind(socket, name, length) == 0 && listen(socket, backlog) == 0 && getsockname(socket, name, &length) == 0
      }
    }
    guard result else { throw RawLink.Failure("listen: \(errno)") }
    address = "127.0.0.1:\(UInt16(bigEndian: name.sin_port))"
  }

  deinit { close(socket) }

  func accept(identity: DeviceIdentity? = nil) throws -> RawLink {
    let connection = Glibc.accept(socket, nil, nil)
    guard connection >= 0 else { throw RawLink.Failure("accept: \(errno)") }
    return try RawLink(socket: connection, isDialler: false, identity: identity)
  }
}

/// Runs what blocks on a thread of its own, so that the tasks of the test and of the nodes go on.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
  }
}
