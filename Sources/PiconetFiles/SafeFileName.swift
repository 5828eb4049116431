/// A name that makes exactly one ordinary entry in one directory, on whatever file system and desktop it ends up.
///
/// A receiver takes a name as it is or refuses it with a reason, and never alters it. The sender and the receiver then
/// print the same name, and no cleaning rule can be steered towards a name that no person chose. Only a conflict adds a
/// number. The sender, whose name it is, may offer a repaired one (`init(repairing:)`).
///
/// | name | outcome | because |
/// |---|---|---|
/// | empty | `empty` | no entry |
/// | more than 255 bytes | `tooLong` | NAME_MAX of Linux; no such file can exist at an honest sender there |
/// | not UTF-8 (also overlong forms, surrogates) | `notUTF8` | it can't be shown, nor stored on every file system |
/// | `/` or `\` anywhere: `../x`, `/etc/x`, `C:\x`, `a/b` | `pathSeparator` | hostile; no part of it is taken |
/// | NUL, line feed, escape, DEL, C1, U+2028, U+2029 | `controlCharacter` | cut C strings, forged lines, commands |
/// | `.` and `..` | `directoryReference` | not a file |
/// | leading dot (`.bashrc`, and our own `.piconet-….part`) | `hidden` | a stranger plants no file that is not seen |
/// | leading hyphen (`--checkpoint-action=exec=x`) | `leadingHyphen` | `tar *` would obey it |
/// | trailing dot or space | `trailingDotOrSpace` | Windows drops it: another name |
/// | CON, PRN, AUX, NUL, COM0-9, LPT0-9 (and ¹²³) | `reservedDeviceName` | opens a device on Windows |
/// | CONIN$, CONOUT$, CLOCK$; all of these with any extension and case | `reservedDeviceName` | likewise |
/// | U+061C, U+200E-200F, U+202A-202E, U+2066-2069 | `bidirectionalControl` | `a<RLO>gpj.exe` looks like `aexe.jpg` |
/// | what Unicode calls ignorable (U+200B, U+FEFF, U+00AD, tags), U+FFF9-FFFB | `unseenCharacter` | names look alike |
/// | joiners after ASCII or one another | `unseenCharacter` | likewise |
/// | `.desktop`, `.lnk`, `.url`, `.scf` at the end, any case | `launcher` | desktops disguise it, and start it |
/// | nothing but white space and ignorable characters | `invisible` | a file without a readable name |
///
/// Everything else is kept: all scripts, emoji with their joiners and variants, either normalization form (two names
/// are equal only if their bytes are), and `: * ? " < > |`, which are ordinary on Linux (a FAT or NTFS volume refuses
/// them itself).
public struct SafeFileName: Hashable, Sendable, CustomStringConvertible {
  /// The longest name in bytes (NAME_MAX of ext4, xfs, btrfs, tmpfs).
  public static let maximumByteCount = 255

  public let text: String

  /// Checks the bytes of a name as a peer sent them. Pure; the work is bounded by `maximumByteCount`.
  public init(bytes: some Collection<UInt8>) throws(FileNameRefusal) {
    guard !bytes.isEmpty else { throw .empty }
    guard bytes.count <= Self.maximumByteCount else { throw .tooLong }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .notUTF8 }
    try self.init(text)
  }

  /// Checks a name that is already text.
  public init(_ text: String) throws(FileNameRefusal) {
    guard !text.isEmpty else { throw .empty }
    guard text.utf8.count <= Self.maximumByteCount else { throw .tooLong }
    var isVisible = false
    var former: Unicode.Scalar?
    for scalar in text.unicodeScalars {
      if let refusal = Self.refusal(of: scalar, after: former) { throw refusal }
      former = scalar
      isVisible = isVisible || Self.isVisible(scalar)
    }
    if text == "." || text == ".." { throw .directoryReference }
    // Unicode scalars, not characters: a combining mark after the dot would hide it from a comparison of characters.
    if text.unicodeScalars.first == "." { throw .hidden }
    if text.unicodeScalars.first == "-" { throw .leadingHyphen }
    if let last = text.unicodeScalars.last, last == "." || last == " " { throw .trailingDotOrSpace }
    guard isVisible else { throw .invisible }
    if Self.isDeviceName(text) { throw .reservedDeviceName }
    if Self.isLauncher(text) { throw .launcher }
    self.text = text
  }

  /// For names derived from a safe one by rules that keep them safe.
  init(unchecked text: String) { self.text = text }

  public var description: String { text }

  // String's own equality is canonical equivalence; a directory's is that of the bytes.
  public static func == (left: SafeFileName, right: SafeFileName) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }

  public func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
  }

  static func refusal(of scalar: Unicode.Scalar, after former: Unicode.Scalar?) -> FileNameRefusal? {
    switch scalar.value {
    case 0x2F, 0x5C: .pathSeparator
    case 0x00...0x1F, 0x7F...0x9F, 0x2028, 0x2029: .controlCharacter
    case 0x20...0x7E: nil
    case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: .bidirectionalControl
    // Persian and many emoji are spelled with joiners; after ASCII, at the beginning and in a row they only serve to
    // hide something.
    case 0x200C, 0x200D:
      former.map { $0.isASCII || (0x200C...0x200D).contains($0.value) } ?? true ? .unseenCharacter : nil
    // Variants of the character before them.
    case 0xFE00...0xFE0F, 0xE0100...0xE01EF, 0x180B...0x180D, 0x180F: nil
    case 0xFFF9...0xFFFB: .unseenCharacter
    default: scalar.properties.isDefaultIgnorableCodePoint ? .unseenCharacter : nil
    }
  }

  static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    let properties = scalar.properties
    return !properties.isWhitespace && !properties.isDefaultIgnorableCodePoint && properties.generalCategory != .format
  }

  static func isLauncher(_ text: String) -> Bool {
    let scalars = text.unicodeScalars
    guard let dot = scalars.lastIndex(of: ".") else { return false }
    let last = String(scalars[scalars.index(after: dot)...]).lowercased()
    return ["desktop", "lnk", "url", "scf"].contains { $0.utf8.elementsEqual(last.utf8) }
  }

  /// Returns whether Windows takes the name for a device: it looks at the part before the first dot, less trailing
  /// spaces.
  static func isDeviceName(_ text: String) -> Bool {
    var base = text.unicodeScalars.prefix { $0 != "." }
    while base.last == " " { base.removeLast() }
    let upper = String(String.UnicodeScalarView(base)).uppercased()
    if ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"].contains(upper) { return true }
    let scalars = Array(upper.unicodeScalars)
    guard scalars.count == 4, upper.hasPrefix("COM") || upper.hasPrefix("LPT") else { return false }
    return "0123456789\u{B9}\u{B2}\u{B3}".unicodeScalars.contains(scalars[3])
  }
}

extension SafeFileName {
  /// Returns a refused name in a form fit for a message or a log: at most 64 bytes of it, and everything but printable
  /// ASCII escaped.
  public static func printable(_ bytes: some Collection<UInt8>) -> String {
    var result = ""
    for byte in bytes.prefix(64) {
      if (0x20...0x7E).contains(byte) && byte != 0x5C {
        result.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        result += "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
    }
    return bytes.count > 64 ? result + "..." : result
  }
}
