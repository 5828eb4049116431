import Foundation
import Glibc
import Synchronization

/// A server for one test on 127.0.0.1: it answers each connection as its script says, and remembers what it was asked
/// for.
final class SmallServer: Sendable {
  /// What is done with one connection: the path that was asked for, a way to say something, and a way to wait for
  /// `open`.
  typealias Script = @Sendable (_ path: String, _ say: (String) -> Void, _ wait: () -> Void) -> Void

  let port: UInt16
  private let listener: Int32
  private let script: Script
  private let asked = Mutex<[String]>([])
  private let gate = DispatchSemaphore(value: 0)
  private let connections = Mutex<[Int32]>([])

  init(_ script: @escaping Script) throws {
    self.script = script
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let number = listener
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(number, pointer, length) == 0 && listen(number, 8) == 0 && getsockname(number, pointer, &length) == 0
      }
    }
    guard isBound else { throw POSIXError(.EADDRINUSE) }
    port = UInt16(bigEndian: address.sin_port)
    Thread.detachNewThread { [self] in serve() }
  }

  var address: String { "http://127.0.0.1:\(port)" }
  /// The paths that were asked for, in order.
  var paths: [String] { asked.withLock { $0 } }

  /// Lets a script that waits go on.
  func open() { gate.signal() }

  func close() {
    shutdown(listener, Int32(SHUT_RDWR))
    for connection in connections.withLock({ $0 }) { shutdown(connection, Int32(SHUT_RDWR)) }
    gate.signal()
  }

  private func serve() {
    while true {
      let connection = accept(listener, nil, nil)
      guard connection >= 0 else { break }
      connections.withLock { $0.append(connection) }
      Thread.detachNewThread { [self] in
        let path = Self.request(on: connection)
        asked.withLock { $0.append(path) }
        script(
          path,
          { text in
            let bytes = Array(text.utf8)
            var done = 0
            while done < bytes.count {
              let count = bytes[done...].withUnsafeBytes {
                send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
              }
              guard count > 0 else { return }
              done += count
            }
          }, { _ = gate.wait(timeout: .now() + 60) })
        connections.withLock { all in all.removeAll { $0 == connection } }
        _ = Glibc.close(connection)
      }
    }
    _ = Glibc.close(listener)
  }

  /// Reads to the end of the header, and gives the path in its first line.
  private static func request(on connection: Int32) -> String {
    var text = ""
    var buffer = [UInt8](repeating: 0, count: 4096)
    while !text.contains("\r\n\r\n") {
      let count = recv(connection, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      text += String(decoding: buffer.prefix(count), as: UTF8.self)
    }
    return text.split(separator: " ").dropFirst().first.map(String.init) ?? ""
  }
}
