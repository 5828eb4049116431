/// Why a URL could not be fetched.
public struct HTTPFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// What happened.
  @nonexhaustive
  public enum Code: Sendable, Hashable {
    /// Not an http or https URL, or one with characters that no URL has.
    case invalidURL
    /// The server answered with a status of 400 or above.
    case status(Int)
    /// The server redirected us more often than `HTTPSettings.redirectLimit` allows.
    case tooManyRedirects
    /// A redirect leads to something other than http or https.
    case forbiddenRedirect
    /// The server's certificate is not one that the system trusts.
    case certificate
    /// Nothing arrived within the time allowed.
    case timedOut
    /// Less arrived than the server had announced, or the connection broke.
    case cutOff
    /// The content exceeds the limit, which is in bytes.
    case tooLarge(limit: UInt64)
    /// No server answers at the address.
    case unreachable
    /// The content can't be stored; the reason is an errno.
    case spool(Int32)
    /// The caller has cancelled the fetch.
    case cancelled
    /// This machine has no usable libcurl.
    case noLibrary
    /// Anything else; the description says what.
    case other
  }

  /// What happened.
  public let code: Code
  /// A sentence to show; never the URL, which may hold a password.
  public let description: String

  /// Creates a failure with words for a person.
  public init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }

  /// Translates a `CURLcode`.
  init(code: Int32, status: Int, message: String) {
    let kind: Code =
      switch code {
      case -1: .noLibrary
      case 1, 3: .invalidURL
      case 5, 6, 7: .unreachable
      case 18, 52, 55, 56, 92: .cutOff
      case 22: .status(status)
      case 28: .timedOut
      case 42: .cancelled
      case 47: .tooManyRedirects
      case 35, 51, 53, 58, 60, 77, 83, 90, 91: .certificate
      default: .other
      }
    // If the protocol is unsupported (1) only after a redirect, the URL itself was right.
    self.init(code == 1 && status != 0 ? .forbiddenRedirect : kind, message)
  }
}
