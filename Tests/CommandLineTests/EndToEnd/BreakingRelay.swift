import Glibc
import Synchronization
import Testing

import class Foundation.Thread

/// Hands the bytes of TCP connections on, breaks after so many, and lets no connection through until it is mended.
final class BreakingRelay: Sendable {
  private struct State {
    var left: Int
    var isBroken = false
    var isClosed = false
    var sockets: [Int32] = []
  }

  /// `127.0.0.1:PORT`.
  let address: String
  private let listener: Int32
  private let target: UInt16
  private let state: Mutex<State>

  /// - Parameters:
  ///   - target: `127.0.0.1:PORT`.
  ///   - limit: it breaks when so many bytes have come from the dialling side.
  init(to target: String, breakingAfter limit: Int) throws {
    self.target = try #require(target.split(separator: ":").last.flatMap { UInt16($0) })
    state = Mutex(State(left: limit))
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var name = Self.loopback(0)
    let listener = listener
    try #require(Self.withAddress(&name) { bind(listener, $0, $1) == 0 && listen(listener, 16) == 0 })
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    try #require(Self.withAddress(&name) { name, _ in getsockname(listener, name, &length) == 0 })
    address = "127.0.0.1:\(UInt16(bigEndian: name.sin_port))"
    Thread.detachNewThread { self.acceptAll() }
  }

  private static func loopback(_ port: UInt16) -> sockaddr_in {
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_port = port.bigEndian
    name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return name
  }

  private static func withAddress(
    _ name: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Bool
  ) -> Bool {
    withUnsafeMutablePointer(to: &name) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  private func acceptAll() {
    while true {
      let near = accept(listener, nil, nil)
      if near < 0 { break }
      let far = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      var name = Self.loopback(target)
      let isThrough =
        state.withLock { !$0.isBroken && !$0.isClosed } && Self.withAddress(&name) { connect(far, $0, $1) == 0 }
      // Sockets are closed with the relay, so that nobody else's has the number of one that we break.
      state.withLock { $0.sockets += [near, far] }
      guard isThrough else {
        shutdown(near, Int32(SHUT_RDWR))
        continue
      }
      Thread.detachNewThread { self.pump(from: near, to: far, counts: true) }
      Thread.detachNewThread { self.pump(from: far, to: near, counts: false) }
    }
    Glibc.close(listener)
  }

  private func pump(from: Int32, to: Int32, counts: Bool) {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(from, &bytes, bytes.count, 0)
      if count <= 0 { break }
      if counts { take(count) }
      var sent = 0
      while sent < count {
        let written = bytes[sent..<count].withUnsafeBytes { send(to, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        if written <= 0 { break }
        sent += written
      }
      if sent < count { break }
    }
    shutdown(to, Int32(SHUT_WR))
  }

  private func take(_ count: Int) {
    state.withLock { state in
      guard state.left > 0 else { return }
      state.left -= count
      guard state.left <= 0 else { return }
      state.isBroken = true
      for socket in state.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
    }
  }

  /// Connections get through again.
  func mend() { state.withLock { $0.isBroken = false } }

  func close() {
    state.withLock { state in
      state.isClosed = true
      for socket in state.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
    }
    shutdown(listener, Int32(SHUT_RDWR))
  }

  deinit { for socket in state.withLock({ $0.sockets }) { Glibc.close(socket) } }
}
