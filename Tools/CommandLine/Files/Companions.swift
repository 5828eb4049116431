import Glibc

/// The files that belong to a photo and lie beside it: what programs have written about it (`photo.xmp`,
/// `photo.jpg.xmp`), and the film of a live photo (`IMG_0001.MOV` of `IMG_0001.HEIC`).
enum Companions {
  /// Those that there are, by their names.
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
      // One file may answer to both spellings.
      guard let status = try? FileWalk.status(of: path), status.st_mode & S_IFMT == S_IFREG,
        seen.insert(OfferedNames.Identity(status)).inserted
      else { continue }
      found.append(path)
    }
    return found
  }
}
