import Glibc

/// What a service manager wants to hear, by sd_notify(3)'s protocol: a datagram to the socket that it has named.
struct ServiceNotice: Sendable {
  private let address: String

  /// nil where no manager has started this program.
  init?(_ variable: (String) -> String?) {
    guard let address = variable("NOTIFY_SOCKET"), let first = address.first, first == "/" || first == "@" else {
      return nil
    }
    self.address = address
  }

  /// Says that others can find this device, and what it is called. A failure is not reported: the manager then waits in
  /// vain, and says so.
  func ready(_ status: String) {
    let line = status.filter { !$0.isNewline }
    send("READY=1\nSTATUS=\(line)")
  }

  private func send(_ text: String) {
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(address.utf8)
    // An abstract socket's name begins with a zero.
    if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
    let fits = withUnsafeMutableBytes(of: &name.sun_path) { path in
      guard bytes.count < path.count else { return false }
      path.copyBytes(from: bytes)
      return true
    }
    guard fits else { return }
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    let message = Array(text.utf8)
    _ = withUnsafePointer(to: &name) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, message, message.count, Int32(MSG_NOSIGNAL), $0, length)
      }
    }
  }
}
