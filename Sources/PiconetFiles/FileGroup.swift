import PiconetWire

/// The files that belong together with an offered one, as its sender says: a photo, its film, and files that programs
/// have written about them. Their names differ in the endings alone, so no member names a file elsewhere.
///
/// In an offer each member is the length of its ending (integer), the ending, its size (integer), and 16 bytes of
/// `FileStart`.
public struct FileGroup: Hashable, Sendable {
  /// One of the files.
  public struct Member: Hashable, Sendable {
    /// The ending, with its dot.
    let ending: String
    /// Bytes.
    let size: UInt64
    let start: FileStart

    var rank: FileEnding.Rank? { FileEnding.rank(of: ending) }
  }

  /// The most members that are sent, and examined.
  public static let memberLimit = 16

  /// The photo first, each ending once.
  let members: [Member]

  init?(_ members: [Member]) {
    guard (2...Self.memberLimit).contains(members.count),
      members.allSatisfy({ $0.rank != nil && NumberedName.split("x" + $0.ending).ending == $0.ending }),
      Set(members.map(\.ending)).count == members.count
    else { return nil }
    let ordered = members.sorted { one, other in
      (one.rank?.rawValue ?? 0, one.ending) < (other.rank?.rawValue ?? 0, other.ending)
    }
    self.members = ordered
  }

  /// Reads the bytes that a peer has sent; nil if they are malformed: the file then belongs to no other.
  public init?(_ bytes: [UInt8]) {
    var rest = bytes[...]
    func integer() -> UInt64? {
      guard case .value(let value, let count) = VariableInteger.read(rest, at: rest.startIndex) else { return nil }
      rest = rest.dropFirst(count)
      return value
    }
    var members: [Member] = []
    while !rest.isEmpty {
      guard members.count < Self.memberLimit, let count = integer().flatMap({ Int(exactly: $0) }),
        (2...NumberedName.maximumEndingByteCount).contains(count), rest.count >= count,
        let ending = String(validating: rest.prefix(count), as: UTF8.self), ending.first == ".",
        !ending.contains("/")
      else { return nil }
      rest = rest.dropFirst(count)
      guard let size = integer(), let start = FileStart(bytes: rest.prefix(FileStart.byteCount)) else { return nil }
      rest = rest.dropFirst(FileStart.byteCount)
      members.append(Member(ending: ending, size: size, start: start))
    }
    self.init(members)
  }

  /// The group as an offer carries it; members for which there is no room are left out.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    for member in members {
      var line: [UInt8] = []
      VariableInteger.append(UInt64(member.ending.utf8.count), to: &line)
      line += member.ending.utf8
      VariableInteger.append(member.size, to: &line)
      line += member.start.bytes
      if bytes.count + line.count <= WireLimits.resourceGroup { bytes += line }
    }
    return bytes
  }

  /// Returns a value that identifies the group among those of one folder, whatever number its files have.
  func identity(of stem: String) -> Int { (Array(stem.utf8) + bytes).hashValue }

  /// Returns the place of a file in the group; nil if the file does not belong to it.
  func place(of name: SafeFileName) -> Int? {
    let ending = NumberedName(name.text).ending
    return members.firstIndex { $0.ending.utf8.elementsEqual(ending.utf8) }
  }

  /// Reads the properties of files on this machine, the offered one among them. Blocks on the disk.
  /// - Parameters:
  ///   - paths: the paths of files beside it; files that are not regular, or belong to others, are left out.
  ///   - name: the name under which the file is offered.
  ///   - keepsContent: false if the sent content differs from that of the files: nothing is then told of it.
  public init?(ofFiles paths: [String], offeredAs name: SafeFileName, keepsContent: Bool) {
    let own = NumberedName.split(name.text).ending
    func parts(_ path: String) -> (stem: String, ending: String) {
      NumberedName.split(String(path.utf8.split(separator: 0x2F).last ?? path.utf8[...]) ?? "")
    }
    // The file's name here may have another number than the offered name.
    guard let stem = paths.map(parts).first(where: { $0.ending == own })?.stem else { return nil }
    var members: [Member] = []
    for path in paths {
      let parts = parts(path)
      guard members.count < Self.memberLimit, parts.stem == stem, FileEnding.rank(of: parts.ending) != nil,
        !members.contains(where: { $0.ending == parts.ending }),
        let file = FileStart.read(path: path)
      else { continue }
      members.append(Member(ending: parts.ending, size: file.size, start: keepsContent ? file.start : .untold))
    }
    self.init(members)
    guard place(of: name) != nil else { return nil }
  }
}
