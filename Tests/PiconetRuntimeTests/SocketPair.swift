import Glibc
import PiconetRuntime

/// Two connected stream sockets.
func socketPair() -> (Int32, Int32) {
  var pair: [Int32] = [-1, -1]
  let flags = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
  precondition(socketpair(AF_UNIX, flags, 0, &pair) == 0)
  return (pair[0], pair[1])
}

/// Calls a closure, and keeps its watch.
final class ClosureHandler: DescriptorHandler {
  var watch: DescriptorWatch?
  var body: (Readiness) -> Void
  init(_ body: @escaping (Readiness) -> Void) { self.body = body }
  func descriptorIsReady(_ readiness: Readiness) { body(readiness) }
}
