import Glibc
import Piconet

/// Makes the list of files to send from the operands of a command line.
///
/// A file stands for itself, and so does a URL. A directory stands for the images in it and below (for all its files with `--any`), sorted by name,
/// without what is hidden; symbolic links are followed, and a directory that was seen already is not entered again, so a loop ends.
/// What can't be sent is a failure of its own and does not stop the rest.
struct FileGathering {
  struct Limits: Sendable {
    var files = CommandLineLimits.files
    var depth = CommandLineLimits.directoryDepth
    var entries = CommandLineLimits.directoryEntries
  }

  /// In the order of the operands.
  private(set) var files: [GatheredFile] = []
  private(set) var failures: [GatheringFailure] = []

  private let any: Bool
  private let limits: Limits
  /// Of the operand that is being looked at.
  private var visited: Set<FileIdentity> = []
  private var entries = 0

  private struct FileIdentity: Hashable {
    let device: dev_t
    let inode: ino_t
  }

  /// - Parameter any: whether files that are no images are sent too.
  init(_ operands: [LocalPath], any: Bool, limits: Limits = Limits()) {
    self.any = any
    self.limits = limits
    for operand in operands {
      do throws(GatheringFailure) { try gather(operand: operand) } catch { failures.append(error) }
    }
  }

  private mutating func gather(operand: LocalPath) throws(GatheringFailure) {
    if operand.isURL {
      do throws(PiconetError) {
        _ = try Member.resourceName(of: operand.readable)
      } catch {
        throw GatheringFailure(path: operand, reason: .badURL(error.detail))
      }
      return try add(GatheredFile(path: operand, size: 0, kind: nil))
    }
    let status: stat
    do throws(GatheringFailure) {
      status = try self.status(of: operand)
    } catch {
      guard let scheme = operand.scheme else { throw error }
      throw GatheringFailure(path: operand, reason: .badURL("'\(scheme)' is not fetched, http and https are"))
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      let file = try inspect(operand, status)
      guard file.kind != nil || any else { throw GatheringFailure(path: operand, reason: .notAnImage) }
      return try add(file)
    }
    visited = []
    entries = 0
    let (filesBefore, failuresBefore) = (files.count, failures.count)
    try gather(directory: operand, status, depth: 0)
    if files.count == filesBefore, failures.count == failuresBefore {
      throw GatheringFailure(path: operand, reason: .noImages)
    }
  }

  /// Throws what ends the whole operand: a limit, or that the directory can't be read.
  private mutating func gather(
    directory: LocalPath, _ status: stat, depth: Int
  ) throws(GatheringFailure) {
    guard depth <= limits.depth else { throw GatheringFailure(path: directory, reason: .tooDeep) }
    guard visited.insert(FileIdentity(device: status.st_dev, inode: status.st_ino)).inserted else { return }
    for name in try names(in: directory) {
      let path = directory.appending(name)
      do throws(GatheringFailure) {
        let status = try self.status(of: path)
        switch status.st_mode & S_IFMT {
        case S_IFDIR: try gather(directory: path, status, depth: depth + 1)
        case S_IFREG:
          let file = try inspect(path, status)
          if file.kind != nil || any { try add(file) }
        // Sockets and the like in a directory are nothing that anybody asked for.
        default: continue
        }
      } catch {
        guard case .system = error.reason else { throw error }
        failures.append(error)
      }
    }
  }

  private mutating func add(_ file: GatheredFile) throws(GatheringFailure) {
    guard files.count < limits.files else { throw GatheringFailure(path: file.path, reason: .tooManyFiles) }
    files.append(file)
  }

  /// The names in a directory without the hidden ones, sorted by their bytes.
  private mutating func names(in path: LocalPath) throws(GatheringFailure) -> [[UInt8]] {
    guard let directory = path.withCString({ opendir($0) }) else {
      throw GatheringFailure(path: path, reason: .system(errno))
    }
    defer { closedir(directory) }
    var names: [[UInt8]] = []
    while true {
      errno = 0
      guard let entry = readdir(directory) else {
        // readdir(3): null is both the end and an error; errno tells them apart.
        if errno != 0 { throw GatheringFailure(path: path, reason: .system(errno)) }
        break
      }
      entries += 1
      guard entries <= limits.entries else { throw GatheringFailure(path: path, reason: .tooManyEntries) }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      if name.first != UInt8(ascii: ".") { names.append(name) }
    }
    return names.sorted { $0.lexicographicallyPrecedes($1) }
  }

  private func status(of path: LocalPath) throws(GatheringFailure) -> stat {
    var status = stat()
    guard path.withCString({ stat($0, &status) }) == 0 else {
      throw GatheringFailure(path: path, reason: .system(errno))
    }
    return status
  }

  /// Reads the beginning of a regular file. The type is checked before it is opened, since to open a device may do something; and
  /// after it, since the path may have come to mean something else. Opening never blocks.
  private func inspect(_ path: LocalPath, _ before: stat) throws(GatheringFailure) -> GatheredFile {
    guard before.st_mode & S_IFMT == S_IFREG else { throw GatheringFailure(path: path, reason: .notARegularFile) }
    let descriptor = path.withCString { open($0, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) }
    guard descriptor >= 0 else { throw GatheringFailure(path: path, reason: .system(errno)) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw GatheringFailure(path: path, reason: .system(errno)) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw GatheringFailure(path: path, reason: .notARegularFile) }

    var header = [UInt8](repeating: 0, count: ImageKind.headerLength)
    var filled = 0
    while filled < header.count {
      let count = header.withUnsafeMutableBytes { buffer in
        let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
        return pread(descriptor, rest.baseAddress, rest.count, off_t(filled))
      }
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw GatheringFailure(path: path, reason: .system(errno)) }
      if count == 0 { break }
      filled += count
    }
    return GatheredFile(path: path, size: Int64(status.st_size), kind: ImageKind(header: header.prefix(filled)))
  }
}
