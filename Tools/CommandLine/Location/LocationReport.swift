/// exiftool's report about a file: a line each, such as `[GPS] GPSLatitude: 52 deg 30' 0.00"`. The values may be the
/// words of any person; exiftool writes them without line breaks.
struct LocationReport: Hashable, Sendable {
  private(set) var kinds: Set<LocationKind> = []
  /// What exiftool takes the file for; nil: it does not know.
  private(set) var fileType: String?
  /// Why it could not read all of the file.
  private(set) var problem: String?

  init(_ output: String) {
    for line in output.split(whereSeparator: \.isNewline) {
      guard line.first == "[", let close = line.firstIndex(of: "]"),
        let colon = line[close...].firstIndex(of: ":")
      else { continue }
      let tag = line[line.index(after: close)..<colon].drop { $0 == " " }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      switch tag {
      case "FileType": fileType = fileType ?? String(value)
      case "Error": problem = problem ?? String(value)
      // What exiftool itself calls minor leaves nothing unread.
      case "Warning": if !value.lowercased().hasPrefix("[minor]") { problem = problem ?? String(value) }
      default: if let kind = LocationKind(tag: tag) { kinds.insert(kind) }
      }
    }
  }
}
