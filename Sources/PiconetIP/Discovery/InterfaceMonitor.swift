import CPiconetSystem
import Glibc
import PiconetEngine
import PiconetRuntime

/// Watches the system's interfaces through rtnetlink; confined to the loop.
final class InterfaceMonitor: DescriptorHandler {
  private(set) var table = InterfaceTable()
  private let descriptor: Int32
  private var registration: (any DatagramLoopRegistration)?
  private let changed: () -> Void

  /// - Throws: if the system gives no route socket.
  init(loop: any DatagramLoop, changed: @escaping () -> Void) throws(LinkFailure) {
    self.changed = changed
    descriptor = piconet_route_open(0)
    guard descriptor >= 0 else { throw LinkFailure(.other, "rtnetlink: \(SystemError.text(errno))") }
    // Watching starts before the first reading, so that no change falls between them.
    table = Self.readAll()
    registration = try loop.watch(descriptor, for: self)
  }

  deinit {
    registration?.cancel()
    if descriptor >= 0 { close(descriptor) }
  }

  func descriptorIsReady(_ readiness: Readiness) {
    let before = table
    var buffer = [UInt8](repeating: 0, count: 32768)
    for _ in 0..<64 {
      let count = piconet_route_receive(descriptor, &buffer, buffer.count)
      if count >= 0 {
        for message in RouteMessage.parse(buffer[..<count]) { table.apply(message) }
      } else if errno == ENOBUFS {
        // Some changes were lost: start over.
        table = Self.readAll()
      } else {
        break
      }
    }
    if table != before { changed() }
  }

  /// Reads the present links and addresses. The kernel answers within the call.
  private static func readAll() -> InterfaceTable {
    var table = InterfaceTable()
    for areAddresses: Int32 in [0, 1] {
      let descriptor = piconet_route_open(1)
      guard descriptor >= 0 else { continue }
      defer { close(descriptor) }
      guard piconet_route_dump(descriptor, areAddresses) == 0 else { continue }
      var buffer = [UInt8](repeating: 0, count: 65536)
      dump: for _ in 0..<1024 {
        let count = piconet_route_receive(descriptor, &buffer, buffer.count)
        guard count >= 0 else { break }
        for message in RouteMessage.parse(buffer[..<count]) {
          if message == .done || message == .error { break dump }
          table.apply(message)
        }
      }
    }
    return table
  }
}
