import Glibc
import PiconetEngine
import PiconetRuntime

extension LinkFailure {
  /// What an error number of a socket call means for a link.
  init(call: String, number: Int32) {
    let code: Code =
      switch number {
      case ECONNREFUSED: .refused
      case ENETUNREACH, EHOSTUNREACH, ENETDOWN, ENONET: .unreachable
      case EHOSTDOWN: .hostDown
      case ETIMEDOUT: .timedOut
      case ECONNRESET, EPIPE, ECONNABORTED, ENETRESET: .reset
      case EMFILE, ENFILE: .tooManyDescriptors
      case EACCES, EPERM: .permission
      case EADDRINUSE, EAGAIN, ENOBUFS, ENOMEM: .busy
      case EADDRNOTAVAIL, EAFNOSUPPORT, EPFNOSUPPORT, EPROTONOSUPPORT, ENODEV: .notAvailable
      case ECANCELED: .cancelled
      default: .other
      }
    self.init(code, "\(call): \(SystemError.text(number))")
  }

  init(_ error: SystemError) { self.init(call: error.call, number: error.number) }
}
