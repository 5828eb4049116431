import Glibc
import Piconet

/// The files that belong to a photo and are beside it: files that programs have written about it (`photo.xmp`,
/// `photo.jpg.xmp`), and the film of a live photo (`IMG_0001.MOV` of `IMG_0001.HEIC`).
enum Companions {
  /// Returns the existing ones, by name.
  static func of(_ photo: LocalPath, _ kind: ImageKind?) -> [LocalPath] {
    guard let kind, kind != .xmp, !kind.isVideo else { return [] }
    let name = photo.lastComponent.bytes
    let folder = LocalPath(bytes: Array(photo.bytes.dropLast(name.count)))
    guard photo.bytes.elementsEqual(folder.bytes + name), let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > 0
    else {
      return []
    }
    let stem = Array(name[..<dot])
    // Phones make live photos of these kinds only.
    let films = kind == .heic || kind == .jpeg ? ["MOV", "mov"] : []
    let names =
      [name, stem].flatMap { base in ["xmp", "XMP"].map { base + Array(".\($0)".utf8) } }
      + films.map { stem + Array(".\($0)".utf8) }
    var found: [LocalPath] = []
    var seen: Set<OfferedNames.Identity> = []
    for name in names {
      let path = folder.appending(name)
      // A single file may answer to both spellings.
      guard let status = try? FileWalk.status(of: path), status.st_mode & S_IFMT == S_IFREG,
        seen.insert(OfferedNames.Identity(status)).inserted
      else { continue }
      found.append(path)
    }
    return found
  }

  /// Returns the files that belong together with one, and the file itself, by their names alone: a photo in all its
  /// formats, its film, and files that programs have written about them. Empty if it is the only one.
  /// - Parameter siblings: the names in its directory, if they are known.
  static func group(of file: LocalPath, _ siblings: DirectoryNames?) -> [LocalPath] {
    let name = file.lastComponent.bytes
    guard let text = String(validating: name, as: UTF8.self), let stem = Resource.Group.stem(of: text),
      file.bytes.count >= name.count, file.bytes.suffix(name.count).elementsEqual(name)
    else { return [] }
    let folder = LocalPath(bytes: Array(file.bytes.dropLast(name.count)))
    let names: [[UInt8]]
    if let siblings {
      names = siblings.beginning(with: Array("\(stem).".utf8), atMost: groupLimit)
    } else {
      names = Resource.Group.names(of: stem) { name in
        (try? FileWalk.status(of: folder.appending(Array(name.utf8)))).map { $0.st_mode & S_IFMT == S_IFREG } ?? false
      }.map { Array($0.utf8) }
    }
    guard names.count > 1 else { return [] }
    return names.map { folder.appending($0) }
  }

  /// What a group's files are called, for those that may meet files of other directories.
  static func names(of group: [LocalPath], _ file: LocalPath) -> OfferedNames.Group {
    let name = file.lastComponent.bytes
    let stem = Resource.Group.stem(of: String(decoding: name, as: UTF8.self)) ?? ""
    let names = group.map { AcceptableName($0.lastComponent.bytes) }.filter { other in
      other.refusal == nil && Resource.Group.stem(of: other.text) == stem
    }
    return OfferedNames.Group(directory: Array(file.bytes.dropLast(name.count)), stem: stem, names: names)
  }

  /// More are not looked at.
  private static let groupLimit = 64
}
