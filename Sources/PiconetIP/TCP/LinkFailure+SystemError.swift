import Glibc
import PiconetEngine
import PiconetRuntime

extension LinkFailure {
  /// Translates an error number of a call on an IP socket for a link, in words followed by the system's own.
  init(call: String, number: Int32) {
    let (code, words) = Self.meaning(of: number, in: call)
    self.init(
      code,
      words.isEmpty ? "\(call): \(SystemError.text(number))" : "\(words) (\(call): \(SystemError.words(number)))")
  }

  init(_ error: SystemError) { self.init(call: error.call, number: error.number) }

  private static func meaning(of number: Int32, in call: String) -> (Code, String) {
    switch number {
    case ECONNREFUSED: (.refused, "nothing listens there")
    case ENETUNREACH: (.unreachable, "no network leads there")
    case EHOSTUNREACH: (.unreachable, "no device answers there")
    case ENETDOWN, ENONET: (.unreachable, "the network is down")
    case EHOSTDOWN: (.hostDown, "the device does not answer")
    case ETIMEDOUT: (.timedOut, "no answer in time")
    case ECONNRESET, EPIPE, ECONNABORTED, ENETRESET:
      (.reset, "the other side, or something in between, has broken off the connection")
    case EMFILE: (.tooManyDescriptors, "this program has as many files open as it may")
    case ENFILE: (.tooManyDescriptors, "this system has as many files open as it can")
    case EACCES, EPERM:
      (
        .permission,
        call == "bind" ? "a port below 1024 needs a privilege" : "the system, or a firewall, does not permit it"
      )
    case EADDRINUSE: (.busy, "another program has this port")
    case EAGAIN: (.busy, "this system has no port left for it")
    case ENOBUFS, ENOMEM: (.busy, "this system is short of memory")
    case EADDRNOTAVAIL: (.notAvailable, "this machine has no such address, or no port left for it")
    case EAFNOSUPPORT, EPFNOSUPPORT, EPROTONOSUPPORT: (.notAvailable, "this system lacks this kind of address")
    case ENODEV: (.notAvailable, "this machine has no such network interface")
    case ECANCELED: (.cancelled, "it was cancelled")
    default: (.other, "")
    }
  }
}
