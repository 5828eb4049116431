/// The files that are asked about in a manifest.
enum FilesToClaim {
  /// - Returns: the files that a manifest may have, with no more bytes than it may have; and those that are offered:
  ///   large ones, and URLs, whose content is not known yet.
  static func split(_ files: [GatheredFile]) -> (claimed: [GatheredFile], others: [GatheredFile]) {
    var (claimed, others): ([GatheredFile], [GatheredFile]) = ([], [])
    var left = FileManifest.contentLimit
    for file in files {
      if file.isURL || file.size > FileManifest.largestFile || file.size > left {
        others.append(file)
      } else {
        left -= file.size
        claimed.append(file)
      }
    }
    return (claimed, others)
  }
}
