import Foundation

/// The domain of `GKSessionError`, as `NSError` has it.
public let GKSessionErrorDomain: String = "com.apple.gamekit.GKSessionErrorDomain"

/// Why a request to a session did not succeed. The codes have Apple's numbers.
public struct GKSessionError: CustomNSError, Error, Hashable, Sendable {
  /// What happened.
  public enum Code: Int32, Sendable {
    /// A parameter has an unexpected value; the description names the rule.
    case invalidParameterError = 30500
    /// No peer has that peer id.
    case peerNotFoundError = 30501
    /// The peer has refused the connection.
    case declinedError = 30502
    /// Not done in the given time.
    case timedOutError = 30503
    /// The side that asked for the connection has withdrawn the request.
    case cancelledError = 30504
    /// The connection could not be made.
    case connectionFailedError = 30505
    /// The connection was closed unexpectedly.
    case connectionClosedError = 30506
    /// More bytes than one call takes.
    case dataTooBigError = 30507
    /// The peer is known, but not connected.
    case notConnectedError = 30508
    /// Bluetooth, or another transport that would reach others, is not available.
    case cannotEnableError = 30509
    /// A connection to this peer is under way already.
    case inProgressError = 30510
    /// An error in the connection's code.
    case connectivityError = 30201
    /// An error in the transport, usually that too much waits for a peer that does not read.
    case transportError = 30202
    /// Something failed unexpectedly.
    case internalError = 30203
    /// Reserved.
    case unknownError = 30204
    /// Beyond the session's control, such as memory or a file of this system.
    case systemError = 30205
  }

  /// What happened.
  public let code: Code
  /// What happened, in words; may contain a peer's own.
  private let words: String?
  private let underlying: (any Error)?

  /// Creates an error with this code.
  /// - Parameter userInfo: see `NSError`. `NSLocalizedDescriptionKey` and `NSUnderlyingErrorKey` are kept.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.code = code
    words = userInfo[NSLocalizedDescriptionKey] as? String
    underlying = userInfo[NSUnderlyingErrorKey] as? any Error
  }

  init(_ code: Code, _ words: String, underlying: (any Error)? = nil) {
    self.code = code
    self.words = words
    self.underlying = underlying
  }

  /// `GKSessionErrorDomain`.
  public static var errorDomain: String { GKSessionErrorDomain }
  /// The number of the code.
  public var errorCode: Int { Int(code.rawValue) }
  /// A description, and the cause of the error where that is known.
  public var errorUserInfo: [String: Any] {
    var info: [String: Any] = [NSLocalizedDescriptionKey: localizedDescription]
    info[NSUnderlyingErrorKey] = underlying
    return info
  }
  /// Same as `errorUserInfo`.
  public var userInfo: [String: Any] { errorUserInfo }
  /// What happened, in words.
  public var localizedDescription: String { words ?? code.words }

  /// Errors of one code are equal, whatever their words.
  public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

  public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

extension GKSessionError.Code {
  /// Returns whether an error is a `GKSessionError` of this code: for `catch GKSessionError.timedOutError`.
  public static func ~= (code: Self, error: any Error) -> Bool { (error as? GKSessionError)?.code == code }

  fileprivate var words: String {
    switch self {
    case .invalidParameterError: "A parameter has an unexpected value."
    case .peerNotFoundError: "There is no peer with that peer id."
    case .declinedError: "The peer has declined."
    case .timedOutError: "It was not done in time."
    case .cancelledError: "The request was taken back."
    case .connectionFailedError: "The connection could not be made."
    case .connectionClosedError: "The connection was closed."
    case .dataTooBigError: "More bytes than one call takes."
    case .notConnectedError: "The peer is not connected."
    case .cannotEnableError: "Neither Bluetooth nor a network is available."
    case .inProgressError: "A connection to this peer is under way already."
    case .connectivityError: "The connection failed."
    case .transportError: "The transport failed."
    case .internalError: "Something failed that should not."
    case .unknownError: "The reason is not known."
    case .systemError: "The system failed."
    }
  }
}

/// The codes by their names, for patterns: `catch GKSessionError.declinedError`.
extension GKSessionError {
  /// See `Code.invalidParameterError`.
  public static var invalidParameterError: Code { .invalidParameterError }
  /// See `Code.peerNotFoundError`.
  public static var peerNotFoundError: Code { .peerNotFoundError }
  /// See `Code.declinedError`.
  public static var declinedError: Code { .declinedError }
  /// See `Code.timedOutError`.
  public static var timedOutError: Code { .timedOutError }
  /// See `Code.cancelledError`.
  public static var cancelledError: Code { .cancelledError }
  /// See `Code.connectionFailedError`.
  public static var connectionFailedError: Code { .connectionFailedError }
  /// See `Code.connectionClosedError`.
  public static var connectionClosedError: Code { .connectionClosedError }
  /// See `Code.dataTooBigError`.
  public static var dataTooBigError: Code { .dataTooBigError }
  /// See `Code.notConnectedError`.
  public static var notConnectedError: Code { .notConnectedError }
  /// See `Code.cannotEnableError`.
  public static var cannotEnableError: Code { .cannotEnableError }
  /// See `Code.inProgressError`.
  public static var inProgressError: Code { .inProgressError }
  /// See `Code.connectivityError`.
  public static var connectivityError: Code { .connectivityError }
  /// See `Code.transportError`.
  public static var transportError: Code { .transportError }
  /// See `Code.internalError`.
  public static var internalError: Code { .internalError }
  /// See `Code.unknownError`.
  public static var unknownError: Code { .unknownError }
  /// See `Code.systemError`.
  public static var systemError: Code { .systemError }
}
