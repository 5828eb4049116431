import Foundation
import Piconet

/// The domain of `MCError`.
public let MCErrorDomain = "MCErrorDomain"

/// Why something did not succeed. This module throws and hands over only errors of this type, so that `catch let error
/// as MCError` and `error as? MCError` work. The cause, usually a `PiconetError`, is in `userInfo` under
/// `NSUnderlyingErrorKey`, and a readable description is in `localizedDescription`.
public struct MCError: CustomNSError, LocalizedError, Hashable, Error {
  /// What happened.
  public enum Code: Int, Sendable {
    /// Any other error.
    case unknown = 0
    /// The peer is not, or no longer, connected.
    case notConnected = 1
    /// An argument is wrong; the description names the rule.
    case invalidParameter = 2
    /// This can't be done, here or by the peer.
    case unsupported = 3
    /// No answer came in time.
    case timedOut = 4
    /// The peer, or this program, cancelled it; or the peer declined.
    case cancelled = 5
    /// There is no room now: in the send queue of a peer, in the session, or on the peer's disk.
    case unavailable = 6
  }

  // `NSError` is immutable, and holds values of any type.
  private let base: NSError

  /// Creates an error with this code.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    base = NSError(domain: MCErrorDomain, code: code.rawValue, userInfo: userInfo)
  }

  init(_ code: Code, _ explanation: String, underlying: (any Error)? = nil) {
    var userInfo: [String: Any] = [NSLocalizedDescriptionKey: explanation]
    if let underlying { userInfo[NSUnderlyingErrorKey] = underlying }
    self.init(code, userInfo: userInfo)
  }

  /// `MCErrorDomain`.
  public static var errorDomain: String { MCErrorDomain }
  /// What happened.
  public var code: Code { Code(rawValue: base.code) ?? .unknown }
  /// The number of the code.
  public var errorCode: Int { base.code }
  /// Same as `userInfo`.
  public var errorUserInfo: [String: Any] { base.userInfo }
  /// Further information.
  public var userInfo: [String: Any] { base.userInfo }
  /// What happened, in words.
  public var errorDescription: String? { base.userInfo[NSLocalizedDescriptionKey] as? String ?? "\(code)" }

  /// `Code.unknown`.
  public static var unknown: Code { .unknown }
  /// `Code.notConnected`.
  public static var notConnected: Code { .notConnected }
  /// `Code.invalidParameter`.
  public static var invalidParameter: Code { .invalidParameter }
  /// `Code.unsupported`.
  public static var unsupported: Code { .unsupported }
  /// `Code.timedOut`.
  public static var timedOut: Code { .timedOut }
  /// `Code.cancelled`.
  public static var cancelled: Code { .cancelled }
  /// `Code.unavailable`.
  public static var unavailable: Code { .unavailable }

  public static func == (left: MCError, right: MCError) -> Bool { left.base.isEqual(right.base) }

  public func hash(into hasher: inout Hasher) { hasher.combine(base.code) }
}

extension MCError.Code {
  /// Returns whether an error is an `MCError` of this code: for `catch MCError.notConnected`.
  public static func ~= (code: MCError.Code, error: any Error) -> Bool { (error as? MCError)?.code == code }
}

extension MCError: CustomStringConvertible {
  public var description: String { "MCError.\(code): \(errorDescription ?? "")" }
}

extension MCError {
  /// Translates an error of Piconet for a program that knows only this module.
  init(_ error: PiconetError) {
    let code: Code =
      switch error.code {
      case .timedOut: .timedOut
      case .cancelled, .declined: .cancelled
      case .left, .notConnected, .linkFailed, .unreachable, .shuttingDown, .removed, .notAvailable: .notConnected
      case .invalidArgument, .messageTooLarge, .sourceUnreadable, .nameRefused: .invalidParameter
      case .notSupported, .notWanted, .version: .unsupported
      case .full, .limitExceeded, .diskFull, .tooManyTransfers, .tooLarge: .unavailable
      // To code that uses only Piconet's public interface, as this module does, the codes are an open set.
      default: .unknown
      }
    self.init(code, error.description, underlying: error)
  }

  /// Returns any thrown error as an `MCError`.
  static func wrapping(_ error: any Error) -> MCError {
    switch error {
    case let error as MCError: error
    case let error as PiconetError: MCError(error)
    case is CancellationError: MCError(.cancelled, "it was taken back")
    default: MCError(.unknown, "\(error)", underlying: error)
    }
  }
}
