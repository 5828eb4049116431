import Glibc

/// Why the identity or the known peers could not be read or written. Nothing is ever replaced or repaired
/// automatically.
public struct StateFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// What happened.
  @nonexhaustive
  public enum Code: String, Sendable, Hashable {
    /// Neither XDG_STATE_HOME nor HOME names an absolute folder.
    case noFolder
    /// Others can read or write a file or folder that must be private.
    case permissionsTooOpen
    /// It belongs to another user.
    case wrongOwner
    /// Not what it should be: not a regular file, without a key, too large.
    case damaged
    /// A limit of the known peers: number of peers, length of a name.
    case limit
    /// Another process has held the lock for too long.
    case busy
    /// A newer version of this program wrote it.
    case newerVersion
    /// A person has blocked the peer.
    case blocked
    /// The peer is not known.
    case unknown
    /// Another known peer has a name that looks the same.
    case nameTaken
    /// A file exists already, which would have been overwritten.
    case exists
    /// A system call failed.
    case system
    /// OpenSSL could not make a key.
    case key
  }
  /// What happened.
  public var code: Code
  /// The file or folder concerned.
  public var path: String
  /// What is wrong and what to do about it.
  public var detail: String

  /// Creates a failure with words for a person.
  public init(_ code: Code, path: String, _ detail: String) {
    self.code = code
    self.path = path
    self.detail = detail
  }

  public var description: String { "\(path): \(detail)" }

  /// Creates a failure for the system call that has just failed.
  static func system(_ call: String, path: String, error: Int32 = errno) -> StateFailure {
    StateFailure(.system, path: path, "\(call): \(String(cString: strerror(error)))")
  }
}
