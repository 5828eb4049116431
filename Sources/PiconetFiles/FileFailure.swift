import Glibc

/// Why a file could not be read, received or stored.
public struct FileFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// What happened.
  @nonexhaustive
  public enum Code: Sendable, Hashable {
    /// The file or directory does not exist.
    case missing
    /// The directory where files are to be stored does not exist.
    case directoryMissing
    /// This user may not read the file to send.
    case unreadable
    /// The path names something other than a regular file.
    case notRegular(FileKind)
    /// The path that should be a directory is something else.
    case notDirectory
    /// The `needed` bytes, including the reserve that is kept, are more than the `free` ones.
    case diskFull(needed: UInt64, free: UInt64)
    /// The file system can hold no further file, however many bytes are free.
    case noRoomForFiles(free: UInt64)
    /// The user's or group's quota is used up (EDQUOT).
    case quotaExceeded
    /// This user may not write to the directory.
    case noPermission
    /// The received part of a file was removed, or replaced, while the rest came.
    case partialFileRemoved
    /// The directory was moved or removed after it was opened, or something was mounted over it.
    case directoryVanished
    /// Another directory has taken its place, and this process may not write there because it is confined.
    case directoryReplaced
    /// A folder below the directory is on another file system, for example because something is mounted there.
    case otherFileSystem
    /// The file system is mounted read-only.
    case readOnly
    /// The name of the file or of a folder can't be stored, for this reason.
    case nameRefused(FileNameRefusal)
    /// The file is larger than the limit in bytes, or, if nil, than the file system can hold.
    case tooLarge(limit: UInt64?)
    /// The file to send ended after `size` bytes, before the size it had when it was opened.
    case shrank(offered: UInt64, size: UInt64)
    /// The file to send is larger than when it was opened. The offered bytes were read.
    case grew(offered: UInt64, size: UInt64)
    /// The file to send was written to while it was being read; its size is the same.
    case changed
    /// The received content differs from the sender's digest.
    case digestMismatch(expected: SHA256Digest, actual: SHA256Digest)
    /// More bytes came than were offered.
    case tooManyBytes(offered: UInt64)
    /// The transfer ended before all bytes had arrived.
    case tooFewBytes(offered: UInt64, received: UInt64)
    /// The name is taken, and so are the numbered names.
    case exists
    /// Any other system error, by its errno.
    case ioError(Int32)
  }

  /// The side at fault. No third side exists: a file is this machine's or the peer's.
  public enum Blame: String, Sendable, Hashable {
    /// A file, directory or disk of this machine.
    case local
    /// The peer broke its own offer, or offered something that is not allowed.
    case peer
  }

  /// What happened.
  public let code: Code
  /// The path, or an escaped form of the peer's name if that was refused; for a message, not for opening.
  public let path: String
  /// The side at fault.
  public let blame: Blame
  /// For a full disk: how many of the needed bytes have to stay free.
  private let reserve: UInt64

  /// Makes a failure; if `blame` is nil, the code implies it.
  public init(_ code: Code, path: String, blame: Blame? = nil) { self.init(code, path: path, blame: blame, reserve: 0) }

  /// - Parameter reserve: for a full disk, how many of the needed bytes have to stay free.
  init(_ code: Code, path: String, blame: Blame? = nil, reserve: UInt64) {
    self.reserve = reserve
    self.code = code
    self.path = path
    self.blame = blame ?? code.usualBlame
  }

  /// The failure for a peer's name that `SafeFileName` refused.
  public init(_ refusal: FileNameRefusal, name: some Collection<UInt8>, blame: Blame = .peer) {
    self.init(.nameRefused(refusal), path: SafeFileName.printable(name), blame: blame)
  }

  /// A sentence to show: the path, a colon, what is wrong.
  public var sentence: String { "\(path): \(explanation)" }

  /// What is wrong, without the path.
  public var explanation: String {
    guard case .diskFull(let needed, let free) = code, reserve > 0, needed > free else { return code.explanation }
    let size = needed - min(reserve, needed)
    return "the disk is full: \(ByteFigures.text(size)) are needed and \(ByteFigures.text(reserve)) have to stay free "
      + "for other programs, but only \(ByteFigures.text(free)) are free"
  }

  public var description: String { sentence }
}

extension FileFailure.Code {
  var usualBlame: FileFailure.Blame {
    switch self {
    case .nameRefused, .tooLarge, .digestMismatch, .tooManyBytes, .tooFewBytes: .peer
    case .missing, .directoryMissing, .unreadable, .notRegular, .notDirectory, .diskFull, .noRoomForFiles,
      .quotaExceeded, .noPermission, .partialFileRemoved, .directoryVanished, .directoryReplaced, .otherFileSystem,
      .readOnly, .shrank, .grew, .changed, .exists, .ioError:
      .local
    }
  }

  /// What is wrong, without the path.
  public var explanation: String {
    switch self {
    case .missing: "there is no such file or directory"
    case .directoryMissing: "there is no such directory"
    case .unreadable: "no permission to read this file"
    case .notRegular(.regular): "is a regular file"
    case .notRegular(let kind): "is \(kind.rawValue), not a regular file"
    case .notDirectory: "is not a directory"
    case .diskFull(let needed, let free) where needed > free:
      "the disk is full: \(ByteFigures.text(needed)) are needed, \(ByteFigures.text(free)) are free"
    case .diskFull(_, let free): "the disk is full: it takes no more, although \(ByteFigures.text(free)) are free"
    case .noRoomForFiles(let free):
      "the disk can hold no more files: its inodes are used up, although \(ByteFigures.text(free)) are free"
    case .quotaExceeded: "the disk quota is used up"
    case .noPermission: "no permission to write"
    case .partialFileRemoved: "what had arrived of the file was removed while the rest came"
    case .directoryVanished: "the directory is no longer where it was"
    case .directoryReplaced:
      "another directory has taken its place, and this program is kept from writing there: start it again"
    case .otherFileSystem: "the folder is on another file system than the directory that it is in"
    case .readOnly: "the file system is read-only"
    case .nameRefused(let refusal): "the name \(refusal.explanation)"
    case .tooLarge(let limit?): "the file is larger than the limit of \(ByteFigures.text(limit))"
    case .tooLarge(nil): "the file is larger than the file system can hold"
    case .shrank(let offered, let size): "the file shrank while it was sent, from \(offered) bytes to \(size)"
    case .grew(let offered, let size): "the file grew while it was sent, from \(offered) bytes to \(size)"
    case .changed: "the file was changed while it was sent"
    case .digestMismatch(let expected, let actual):
      "the content is not what was offered: SHA-256 \(actual) instead of \(expected)"
    case .tooManyBytes(let offered): "more bytes came than the \(offered) that were offered"
    case .tooFewBytes(let offered, let received): "only \(received) of the \(offered) offered bytes came"
    case .exists: "the name is taken"
    case .ioError(let number): Self.systemMessage(number)
    }
  }

  private static func systemMessage(_ number: Int32) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      guard let start = buffer.baseAddress, strerror_r(number, start, buffer.count) == 0 else {
        return "system error \(number)"
      }
      return String(cString: start)
    }
  }
}
