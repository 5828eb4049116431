import Foundation
import Glibc
import Testing

/// The air between the adapters of the virtual machine. It is asked for weather directly: a process in between would
/// come too late.
enum Air {
  private static let path = ProcessInfo.processInfo.environment["PICONET_FAULTS"] ?? ""

  /// One request and its answer, such as `ok`: see Tools/BluetoothVM/fault.
  @discardableResult
  static func ask(_ request: String) throws -> String {
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    // The kernel chooses an address for the answer.
    var own = sockaddr(sa_family: sa_family_t(AF_UNIX), sa_data: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    try #require(bind(descriptor, &own, socklen_t(MemoryLayout<sa_family_t>.size)) == 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    var patience = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let sent = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, request, request.utf8.count, 0, $0, size)
      }
    }
    try #require(sent == request.utf8.count, "\(request): errno \(errno)")
    var answer = [UInt8](repeating: 0, count: 32_768)
    let count = recv(descriptor, &answer, answer.count, 0)
    try #require(count >= 0, "\(request): no answer")
    return String(decoding: answer.prefix(count), as: UTF8.self)
  }

  /// Makes a request that has to succeed.
  static func make(_ request: String) throws {
    let answer = try ask(request)
    try #require(answer == "ok", "\(request): \(answer)")
  }
}
