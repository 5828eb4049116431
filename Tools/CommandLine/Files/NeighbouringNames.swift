import Glibc

/// The names beside the files of a long command line, which show which files can't have companions. A shell writes
/// thousands of names for `*.jpg`, and looking on the disk for all possible companions of one file takes about 90
/// calls.
struct NeighbouringNames: Sendable {
  /// With fewer operands the looks are few.
  static let leastOperands = 64
  /// Reading a folder's names must not take longer than the looks would.
  private static let namesPerOperand = 16

  /// How many names may still be read, over all folders.
  private var budget: Int
  /// By folder: the beginnings of its names, and whether several names have the beginning; nil for a folder that was
  /// not read.
  private var folders: [[UInt8]: [[UInt8]: Bool]?] = [:]

  init(operands: Int) { budget = operands < Self.leastOperands ? 0 : operands * Self.namesPerOperand }

  /// Whether no other name in the file's folder begins as the file's name does, in any letter case. False if that is
  /// not known.
  mutating func isAlone(_ file: LocalPath) -> Bool {
    if budget <= 0, folders.isEmpty { return false }
    let name = file.lastComponent.bytes
    guard let beginning = Self.beginning(of: name), file.bytes.suffix(name.count).elementsEqual(name) else {
      return false
    }
    let folder = Array(file.bytes.dropLast(name.count))
    if folders[folder] == nil { folders[folder] = .some(read(folder)) }
    guard let known = folders[folder] ?? nil else { return false }
    return known[beginning] == false
  }

  /// What stands before the first dot, in small letters: names of files that belong together have it in common. Nil
  /// where a disk may take other letters for the same.
  private static func beginning(of name: some Sequence<UInt8>) -> [UInt8]? {
    var beginning: [UInt8] = []
    for byte in name {
      if byte == 0 || byte == UInt8(ascii: ".") && !beginning.isEmpty { break }
      if byte >= 0x80 { return nil }
      beginning.append((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte)
    }
    return beginning
  }

  /// - Returns: nil if there are too many names, or they can't be read.
  private mutating func read(_ folder: [UInt8]) -> [[UInt8]: Bool]? {
    let path = folder.isEmpty ? LocalPath(".") : LocalPath(bytes: folder)
    let descriptor = awaitingDescriptor { path.withCString { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) } }
    guard descriptor >= 0 else { return nil }
    guard let directory = fdopendir(descriptor) else {
      close(descriptor)
      return nil
    }
    defer { closedir(directory) }
    var beginnings: [[UInt8]: Bool] = [:]
    while budget > 0, !Task.isCancelled {
      errno = 0
      guard let entry = readdir(directory) else { return errno == 0 ? beginnings : nil }
      budget -= 1
      withUnsafeBytes(of: &entry.pointee.d_name) { field in
        guard let beginning = Self.beginning(of: field) else { return }
        beginnings[beginning] = beginnings[beginning] != nil
      }
    }
    return nil
  }
}
