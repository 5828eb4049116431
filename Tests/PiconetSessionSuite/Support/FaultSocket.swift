import Glibc

/// Asks the air between emulated adapters for bad weather, by one datagram that is answered by another.
enum FaultSocket {
  struct Failure: Error { let what: String }

  static func ask(_ place: String, _ request: String) throws {
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Failure(what: "socket: \(errno)") }
    defer { close(descriptor) }
    var patience = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    // Only the family: the kernel gives us a name for the answer.
    var own = sockaddr_un()
    own.sun_family = sa_family_t(AF_UNIX)
    guard withAddress(&own, { bind(descriptor, $0, socklen_t(MemoryLayout<sa_family_t>.size)) }) == 0 else {
      throw Failure(what: "bind: \(errno)")
    }
    var air = sockaddr_un()
    air.sun_family = sa_family_t(AF_UNIX)
    let path = Array(place.utf8)
    guard path.count < MemoryLayout.size(ofValue: air.sun_path) else { throw Failure(what: "\(place) is too long") }
    withUnsafeMutableBytes(of: &air.sun_path) { $0.copyBytes(from: path) }
    guard withAddress(&air, { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }) == 0 else {
      throw Failure(what: "\(place): \(errno)")
    }
    let bytes = Array(request.utf8)
    guard send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
      throw Failure(what: "\(request): \(errno)")
    }
    var answer = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &answer, answer.count, 0)
    guard count > 0 else { throw Failure(what: "\(request) got no answer: \(errno)") }
    let text = String(decoding: answer.prefix(count), as: UTF8.self)
    guard text.hasPrefix("ok") else { throw Failure(what: "\(request): \(text)") }
  }

  private static func withAddress(_ name: inout sockaddr_un, _ body: (UnsafePointer<sockaddr>) -> Int32) -> Int32 {
    withUnsafePointer(to: &name) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
    }
  }
}
