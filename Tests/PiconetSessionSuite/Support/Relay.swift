import Foundation
import Glibc
import Synchronization

/// Hands the bytes of TCP connections on, until a test wants silence, or a cut.
final class Relay: Sendable {
  struct Failure: Error { let what: String }

  private struct State {
    var sockets: [Int32] = []
    var isClosed = false
  }

  let address: String
  private let listener: Int32
  private let target: UInt16
  private let state = Mutex(State())
  /// Held while nothing gets through.
  private let gate = Gate()

  /// - Parameter target: a port of 127.0.0.1.
  init(to target: UInt16) throws {
    self.target = target
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var name = Self.loopback(0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = listener
    let isDone = withUnsafeMutablePointer(to: &name) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
        bind(listener, name, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, name, &length) == 0
      }
    }
    guard isDone else { throw Failure(what: "listen: \(errno)") }
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

  private func acceptAll() {
    while true {
      let near = accept(listener, nil, nil)
      if near < 0 { break }
      let far = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      var name = Self.loopback(target)
      let isConnected = withUnsafePointer(to: &name) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(far, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      let isOpen = state.withLock { state in
        if !state.isClosed { state.sockets += [near, far] }
        return !state.isClosed
      }
      guard isConnected, isOpen else {
        if !isOpen {
          Glibc.close(near)
          Glibc.close(far)
        } else {
          shutdown(near, Int32(SHUT_RDWR))
        }
        continue
      }
      Thread.detachNewThread { self.pump(from: near, to: far) }
      Thread.detachNewThread { self.pump(from: far, to: near) }
    }
    // Sockets are closed only now, when nobody gets their numbers from us any more.
    Glibc.close(listener)
  }

  private func pump(from: Int32, to: Int32) {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(from, &bytes, bytes.count, 0)
      gate.pass()
      if count <= 0 { break }
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

  /// Nothing gets through any more, and nobody is told; or all of it does again.
  func setSilent(_ isSilent: Bool) { gate.setHeld(isSilent) }

  /// Both ends lose their connections.
  func cut() {
    let sockets = state.withLock { $0.sockets }
    for socket in sockets {
      // Bound to no address: the kernel resets the connection.
      var nowhere = sockaddr()
      nowhere.sa_family = sa_family_t(AF_UNSPEC)
      connect(socket, &nowhere, socklen_t(MemoryLayout<sockaddr>.size))
    }
    gate.setHeld(false)
  }

  func close() {
    // The flag first: who dials again between a cut and the end would be let through for good.
    state.withLock { $0.isClosed = true }
    shutdown(listener, Int32(SHUT_RDWR))
    cut()
  }

  deinit { for socket in state.withLock({ $0.sockets }) { Glibc.close(socket) } }
}

/// What threads pass one after the other, unless it is held.
private final class Gate: @unchecked Sendable {
  // Sendable is right: the flag is touched with the condition's lock held only.
  private let condition = NSCondition()
  private var isHeld = false

  func setHeld(_ isHeld: Bool) {
    condition.lock()
    self.isHeld = isHeld
    condition.broadcast()
    condition.unlock()
  }

  func pass() {
    condition.lock()
    while isHeld { condition.wait() }
    condition.unlock()
  }
}
