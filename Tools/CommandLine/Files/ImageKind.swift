/// A kind of image, recognised by its content: a name says nothing, and comes from a peer.
enum ImageKind: String, Sendable, CaseIterable {
  case jpeg, png, gif, webp, heic, heif, avif, tiff, canonRaw2, canonRaw3, panasonicRaw, olympusRaw, bmp, jpegXL, qoi

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
    case .jpegXL: "jxl"
    default: rawValue
    }
  }
}
