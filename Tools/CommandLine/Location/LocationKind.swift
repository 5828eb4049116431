/// The kinds of location data in a photo.
enum LocationKind: String, CaseIterable, Hashable, Sendable {
  case position, city, state, country, place

  /// In words.
  var text: String {
    switch self {
    case .position: "GPS position"
    case .city: "city"
    case .state: "state"
    case .country: "country"
    case .place: "place name"
    }
  }

  /// Reads the kind of a tag from exiftool's name of it; nil: not a location. The zone of a camera's clock is not
  /// counted as a location.
  init?(tag: some StringProtocol) {
    let tag = tag.lowercased()
    // Cameras without a receiver write this, and nothing more.
    if tag == "gpsversionid" { return nil }
    if ["gps", "latitude", "longitude"].contains(where: tag.contains) || tag.hasPrefix("geo") {
      self = .position
    } else if tag.contains("city") {
      self = .city
    } else if tag.contains("country") {
      self = .country
    } else if tag.contains("state") {
      self = .state
    } else {
      self = .place
    }
  }

  /// The names of tags that say something about a place, in exiftool's notation: `*` stands for any letters. EXIF
  /// (GPSInfo), IPTC (City, Sub-location, ContentLocation...), XMP (exif, photoshop, iptcCore, iptcExt, and what makers
  /// of drones add), QuickTime and 3GP (user data, item list, keys), GeoTIFF.
  static let tags = [
    "*gps*", "*latitude*", "*longitude*", "geo*", "location*", "sub-location*", "*contentlocation*", "shotlocation*",
    "city*", "state", "province*", "country*", "landmark*", "*locality*",
  ]

  /// Returns words for programs.
  static func words(_ kinds: Set<LocationKind>) -> [String] { allCases.filter(kinds.contains).map(\.rawValue) }

  /// `GPS position, city`.
  static func text(_ kinds: Set<LocationKind>) -> String {
    allCases.filter(kinds.contains).map(\.text).joined(separator: ", ")
  }
}
