import Piconet

extension GKSessionError {
  /// What a program for `GKSession` is told of an error of Piconet.
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
      default: .connectionFailedError
      }
    self.init(code, error.description, underlying: error)
  }
}
