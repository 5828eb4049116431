/// A kind of file that cameras make, recognised by its content: a name says nothing, and comes from a peer. Images,
/// videos, and the sidecars in which programs keep what they know about an image.
enum ImageKind: String, Sendable, CaseIterable {
  case jpeg, png, gif, webp, heic, heif, avif, tiff, canonRaw2, canonRaw3, panasonicRaw, olympusRaw, fujifilmRaw, bmp,
    jpegXL, qoi
  case mp4, quickTime, threeGP
  case xmp

  var isVideo: Bool { [.mp4, .quickTime, .threeGP].contains(self) }

  /// How many bytes of a file `init(header:)` uses.
  static let headerLength = 64

  /// The IANA media type, or the usual one if none is registered.
  var mediaType: String {
    switch self {
    case .jpeg: "image/jpeg"
    case .png: "image/png"
    case .gif: "image/gif"
    case .webp: "image/webp"
    case .heic: "image/heic"
    case .heif: "image/heif"
    case .avif: "image/avif"
    case .tiff: "image/tiff"
    case .canonRaw2: "image/x-canon-cr2"
    case .canonRaw3: "image/x-canon-cr3"
    case .panasonicRaw: "image/x-panasonic-rw2"
    case .olympusRaw: "image/x-olympus-orf"
    case .fujifilmRaw: "image/x-fuji-raf"
    case .mp4: "video/mp4"
    case .quickTime: "video/quicktime"
    case .threeGP: "video/3gpp"
    case .xmp: "application/rdf+xml"
    case .bmp: "image/bmp"
    case .jpegXL: "image/jxl"
    case .qoi: "image/qoi"
    }
  }

  /// The usual extension, without the dot. DNG, NEF and ARW are TIFF as far as their headers go.
  var fileExtension: String {
    switch self {
    case .jpeg: "jpg"
    case .canonRaw2: "cr2"
    case .canonRaw3: "cr3"
    case .panasonicRaw: "rw2"
    case .olympusRaw: "orf"
    case .fujifilmRaw: "raf"
    case .quickTime: "mov"
    case .threeGP: "3gp"
    case .jpegXL: "jxl"
    default: rawValue
    }
  }

  /// How the names of photos and videos end, in lower case.
  static let extensions =
    Set(allCases.filter { $0 != .xmp }.map(\.fileExtension)).union(["jpeg", "tif", "dng", "nef", "arw", "m4v", "hif"])
}
