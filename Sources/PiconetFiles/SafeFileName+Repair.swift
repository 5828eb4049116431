extension SafeFileName {
  /// Creates the nearest name that is not refused, for a sender that does not want to lose a file because of its name.
  /// A safe name stays as it is.
  public init(repairing bytes: some Collection<UInt8>) {
    if let safe = try? SafeFileName(bytes: bytes) {
      self = safe
      return
    }
    var kept = String.UnicodeScalarView()
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      switch Self.refusal(of: scalar, after: kept.last) {
      case nil: kept.append(scalar)
      case .pathSeparator: kept.append("_")
      default: break
      }
    }
    while let first = kept.first, first == "." || first == "-" || first == " " { kept.removeFirst() }
    while let last = kept.last, last == "." || last == " " { kept.removeLast() }
    if Self.isLauncher(String(kept)), let dot = kept.lastIndex(of: ".") { kept.replaceSubrange(dot...dot, with: ["_"]) }
    var text = String(kept)
    if Self.isDeviceName(text) { text = "_" + text }
    self = (try? SafeFileName(Self.shortened(text))) ?? SafeFileName(unchecked: "file")
  }

  /// Characters that FAT, exFAT and NTFS allow in no name, though they are safe here.
  public static let notOnCards = Array(":*?\"<>|".utf8)

  /// The name with an underscore for each character that FAT, exFAT and NTFS do not allow.
  public var onCards: SafeFileName {
    let bytes = Array(text.utf8)
    guard bytes.contains(where: Self.notOnCards.contains) else { return self }
    return SafeFileName(repairing: bytes.map { Self.notOnCards.contains($0) ? 0x5F : $0 })
  }

  /// Removes whole characters from the end of the part before the extension.
  private static func shortened(_ text: String) -> String {
    var stem = text[...]
    var rest = text[text.endIndex...]
    if let dot = text.lastIndex(of: "."), text[dot...].utf8.count <= 32 {
      stem = text[..<dot]
      rest = text[dot...]
    }
    while stem.utf8.count + rest.utf8.count > maximumByteCount, !stem.isEmpty { stem.removeLast() }
    return String(stem + rest)
  }
}
