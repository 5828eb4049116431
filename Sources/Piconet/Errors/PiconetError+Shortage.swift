import Glibc
import PiconetEngine
import PiconetRuntime

extension PiconetError {
  /// Whether the system has run out of something that it gives this process: descriptors, threads or memory.
  package var isShortage: Bool {
    switch underlying {
    case let error as SystemError: [EAGAIN, EMFILE, ENFILE, ENOMEM].contains(error.number)
    case let failure as LinkFailure: failure.code == .tooManyDescriptors
    default: false
    }
  }
}
