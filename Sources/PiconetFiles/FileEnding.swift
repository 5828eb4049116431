/// The meaning of a name's ending, for names that belong together.
package enum FileEnding {
  private static let photos: Set<String> = [
    ".heic", ".heif", ".hif", ".jpg", ".jpeg", ".png", ".dng", ".cr2", ".cr3", ".nef", ".nrw", ".arw", ".raf", ".orf",
    ".rw2", ".pef", ".srw", ".tif", ".tiff", ".webp", ".avif", ".jxl", ".gif",
  ]
  private static let films: Set<String> = [".mov", ".mp4", ".m4v", ".3gp", ".avi", ".mts"]
  private static let sidecars: Set<String> = [".xmp", ".aae", ".pp3", ".dop", ".thm", ".wav", ".json"]
  private static let compressions: Set<String> = [
    ".gz", ".bz2", ".xz", ".zst", ".lz", ".lz4", ".lzma", ".lzo", ".z", ".br", ".gpg",
  ]

  /// The rank of a file among those that belong together: the photo, then its film, then files written about them. Nil
  /// for any other file.
  package enum Rank: Int, Comparable, Sendable {
    case photo, film, sidecar
    package static func < (one: Rank, other: Rank) -> Bool { one.rawValue < other.rawValue }
  }

  /// - Parameter ending: in the form of `NumberedName`: with its dot, or with both dots.
  package static func rank(of ending: String) -> Rank? {
    let ending = ending.lowercased()
    if photos.contains(ending) { return .photo }
    if films.contains(ending) { return .film }
    guard let dot = ending.lastIndex(of: "."), sidecars.contains(String(ending[dot...])) else { return nil }
    return .sidecar
  }

  /// Whether both together are one ending.
  static func isOne(_ first: String, _ second: String) -> Bool {
    let (first, second) = (first.lowercased(), second.lowercased())
    if first == ".tar" { return compressions.contains(second) }
    return sidecars.contains(second) && (photos.contains(first) || films.contains(first))
  }

  /// Endings of photos and films in the spellings of cameras and programs, used to look for other files of a name.
  package static let looked: [String] = lookedPhotos + films.sorted().flatMap { [$0, $0.uppercased()] }
  /// The endings of photos alone.
  static let lookedPhotos: [String] = photos.sorted().flatMap { [$0, $0.uppercased()] }
  /// The endings of sidecars.
  package static let lookedSidecars: [String] = sidecars.sorted().flatMap { [$0, $0.uppercased()] }
}
