import Glibc

/// A message bus of our own on a unix socket, by dbus-daemon.
final class PrivateBus {
  static let program = "/usr/bin/dbus-daemon"
  static var isAvailable: Bool { access(program, X_OK) == 0 }

  let address: String
  private let folder: String
  private(set) var process: pid_t = 0

  struct Failure: Error {}

  init() throws {
    var name = Array("/tmp/piconet-bus.XXXXXX".utf8CString)
    guard mkdtemp(&name) != nil else { throw Failure() }
    folder = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    address = "unix:path=\(folder)/bus"
    try start()
  }

  deinit { remove() }

  func start() throws {
    let words = [Self.program, "--session", "--nofork", "--nopidfile", "--address=\(address)"]
    var arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    guard posix_spawn(&process, Self.program, nil, nil, &arguments, environ) == 0 else { throw Failure() }
    for _ in 0..<500 {
      if access("\(folder)/bus", F_OK) == 0 { return }
      usleep(10_000)
    }
    throw Failure()
  }

  func stop() {
    guard process > 0 else { return }
    kill(process, SIGKILL)
    waitpid(process, nil, 0)
    process = 0
    unlink("\(folder)/bus")
  }

  func remove() {
    stop()
    rmdir(folder)
  }
}
