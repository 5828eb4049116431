import Glibc

/// A QR code as libqrencode makes it (ISO/IEC 18004), with the lowest level of error correction: it is read from a
/// screen. The library is loaded when a code is asked for, so programs that show none don't need it.
struct QRCode: Hashable, Sendable {
  /// How many light modules must surround it.
  static let quietZone = 4
  /// Row by row, as many rows as columns; true is dark.
  let modules: [[Bool]]

  init(modules: [[Bool]]) { self.modules = modules }

  /// - Throws: `QRCodeFailure`, with what can be done.
  init(_ text: String) throws(QRCodeFailure) {
    guard let library = dlopen("libqrencode.so.4", RTLD_NOW | RTLD_LOCAL),
      let encode = dlsym(library, "QRcode_encodeString"),
      let free = dlsym(library, "QRcode_free")
    else { throw .libraryMissing }
    // In upper case (the last 0) a fingerprint takes 5.5 bits per digit.
    guard let code = unsafeBitCast(encode, to: Encode.self)(text, 0, 0, Self.modeOfBytes, 0) else { throw .tooLong }
    defer { unsafeBitCast(free, to: Free.self)(code) }
    let width = Int(code.load(fromByteOffset: 4, as: Int32.self))
    let data = code.load(fromByteOffset: 8, as: UnsafePointer<UInt8>.self)
    modules = (0..<width).map { row in (0..<width).map { data[row * width + $0] & 1 == 1 } }
  }

  // qrencode.h of libqrencode 4. A QRcode has its version and its width (both int), and a pointer to a byte for each
  // module.
  private typealias Encode = @convention(c) (UnsafePointer<CChar>, CInt, CInt, CInt, CInt) -> UnsafeMutableRawPointer?
  private typealias Free = @convention(c) (UnsafeMutableRawPointer) -> Void
  private static let modeOfBytes: CInt = 2
}

enum QRCodeFailure: Error, Hashable, CustomStringConvertible {
  case libraryMissing, tooLong, notUnicode
  /// The widths are in columns.
  case tooNarrow(Int, needed: Int)

  var description: String {
    switch self {
    case .libraryMissing: "a QR code needs libqrencode: Debian's package libqrencode4"
    case .tooLong: "this is too long for a QR code"
    case .notUnicode: "a QR code needs a terminal that shows UTF-8; see LC_ALL and LANG"
    case .tooNarrow(let columns, let needed): "a QR code needs \(needed) columns, and this terminal has \(columns)"
    }
  }
}
