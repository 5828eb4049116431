import Piconet

extension GKSessionError {
  /// Translates an error of Piconet for a program that uses `GKSession`.
  init(_ error: PiconetError) {
    let code: Code =
      switch error.code {
      case .declined, .full, .notWanted, .codeMismatch: .declinedError
      case .cancelled: .cancelledError
      case .timedOut: .timedOutError
      case .left, .removed, .shuttingDown: .connectionClosedError
      case .inProgress, .alreadyConnected: .inProgressError
      case .invalidArgument: .invalidParameterError
      case .messageTooLarge: .dataTooBigError
      case .notConnected: .notConnectedError
      case .protocolBroken, .limitExceeded: .transportError
      case .state: .systemError
      case .internalError: .internalError
      // To code that uses only Piconet's public interface, as this module does, the codes are an open set.
      default: .connectionFailedError
      }
    self.init(code, error.description, underlying: error)
  }
}
