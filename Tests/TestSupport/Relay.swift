import Foundation
import Glibc
import Synchronization

/// Passes the bytes of TCP connections on, until a test wants silence, or a cut, or so many bytes have gone through.
///
/// To the other side they come from 127.0.0.2: a node that listens on 127.0.0.1 can't be dialled back past the relay.
package final class Relay: Sendable {
  package struct Failure: Error { let what: String }

  private struct State {
    /// How many bytes may still come from the dialling side before it breaks.
    var left: Int
    var isBroken = false
    var isClosed = false
    var sockets: [Int32] = []

    var letsThrough: Bool { !isBroken && !isClosed }
  }

  /// `127.0.0.1:PORT`.
  package let address: String
  private let listener: Int32
  private let target: UInt16
  private let state: Mutex<State>
  /// Shut while nothing may get through.
  private let valve = Valve()

  /// - Parameters:
  ///   - target: a port of 127.0.0.1.
  ///   - limit: once so many bytes have come from the dialling side it ends all connections, and lets none through
  ///     until `mend`.
  package init(to target: UInt16, breakingAfter limit: Int = .max) throws {
    self.target = target
    state = Mutex(State(left: limit))
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
      let isConnected = state.withLock { $0.letsThrough } && connect(far)
      // The relay closes its sockets only when it ends itself. Until then the number of a cut socket belongs to no
      // other descriptor.
      let isThrough = state.withLock { state in
        state.sockets += [near, far]
        return isConnected && state.letsThrough
      }
      guard isThrough else {
        for socket in [near, far] { shutdown(socket, Int32(SHUT_RDWR)) }
        continue
      }
      Thread.detachNewThread { self.pump(from: near, to: far, counts: true) }
      Thread.detachNewThread { self.pump(from: far, to: near, counts: false) }
    }
    // Only now, when no thread accepts on its number any more.
    Glibc.close(listener)
  }

  private func connect(_ socket: Int32) -> Bool {
    func succeeds(_ name: sockaddr_in, _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Bool {
      withUnsafePointer(to: name) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          call($0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
    }
    var own = Self.loopback(0)
    own.sin_addr.s_addr = UInt32(0x7F00_0002).bigEndian
    return succeeds(own) { bind(socket, $0, $1) } && succeeds(Self.loopback(target)) { Glibc.connect(socket, $0, $1) }
  }

  private func pump(from: Int32, to: Int32, counts: Bool) {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(from, &bytes, bytes.count, 0)
      valve.pass()
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

  /// Lets connections through again after it has broken.
  package func mend() { state.withLock { $0.isBroken = false } }

  /// Lets nothing through any more, without telling either end; or lets everything through again.
  package func setSilent(_ isSilent: Bool) { valve.setShut(isSilent) }

  /// Both ends lose their connections.
  package func cut() {
    let sockets = state.withLock { $0.sockets }
    for socket in sockets {
      // Disconnects the socket: the kernel resets the connection.
      var nowhere = sockaddr()
      nowhere.sa_family = sa_family_t(AF_UNSPEC)
      _ = Glibc.connect(socket, &nowhere, socklen_t(MemoryLayout<sockaddr>.size))
    }
    valve.setShut(false)
  }

  package func close() {
    // The flag first: otherwise a connection made between a cut and the end would be let through for good.
    state.withLock { $0.isClosed = true }
    shutdown(listener, Int32(SHUT_RDWR))
    cut()
  }

  deinit { for socket in state.withLock({ $0.sockets }) { Glibc.close(socket) } }
}

/// What threads pass one after the other unless it is shut.
private final class Valve: @unchecked Sendable {
  // Sendable is right: the flag is used only while the condition's lock is held.
  private let condition = NSCondition()
  private var isShut = false

  func setShut(_ isShut: Bool) {
    condition.lock()
    self.isShut = isShut
    condition.broadcast()
    condition.unlock()
  }

  func pass() {
    condition.lock()
    while isShut { condition.wait() }
    condition.unlock()
  }
}
