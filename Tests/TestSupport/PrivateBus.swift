import Glibc

/// A message bus of our own on a Unix socket, run by dbus-daemon.
package final class PrivateBus {
  package static let program = "/usr/bin/dbus-daemon"
  package static var isAvailable: Bool { access(program, X_OK) == 0 }

  package let address: String
  private let folder: String
  package private(set) var process: pid_t = 0

  package struct Failure: Error {}

  package init() throws {
    var name = Array("/tmp/piconet-bus.XXXXXX".utf8CString)
    guard mkdtemp(&name) != nil else { throw Failure() }
    folder = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    address = "unix:path=\(folder)/bus"
    try start()
  }

  deinit { remove() }

  package func start() throws {
    let words = [Self.program, "--session", "--nofork", "--nopidfile", "--address=\(address)"]
    var arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    guard posix_spawn(&process, Self.program, nil, nil, &arguments, environ) == 0 else { throw Failure() }
    // The socket's name is there with bind(2); a connection before listen(2) is refused.
    for _ in 0..<500 {
      if takesConnections { return }
      usleep(10_000)
    }
    throw Failure()
  }

  private var takesConnections: Bool {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    var place = sockaddr_un()
    place.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &place.sun_path) { $0.copyBytes(from: "\(folder)/bus".utf8) }
    return withUnsafePointer(to: &place) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
  }

  package func stop() {
    guard process > 0 else { return }
    kill(process, SIGKILL)
    waitpid(process, nil, 0)
    process = 0
    unlink("\(folder)/bus")
  }

  package func remove() {
    stop()
    rmdir(folder)
  }
}
