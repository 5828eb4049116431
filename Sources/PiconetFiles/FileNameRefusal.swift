/// Why a name is not used for a file; the table is at `SafeFileName`.
@nonexhaustive
public enum FileNameRefusal: String, Error, Sendable, Hashable, CaseIterable {
  case empty
  case tooLong
  case notUTF8
  case controlCharacter
  case pathSeparator
  case directoryReference
  case hidden
  case leadingHyphen
  case trailingDotOrSpace
  case reservedDeviceName
  case bidirectionalControl
  case unseenCharacter
  case invisible
  case launcher
  case tooDeep
  case folderTooLong
  /// The directory's file system does not accept the name, as FAT and NTFS do not accept a colon.
  case notOnThisDisk

  /// Worded to follow "the name" in a sentence.
  public var explanation: String {
    switch self {
    case .empty: "is empty"
    case .tooLong: "is longer than \(SafeFileName.maximumByteCount) bytes, or than this file system takes"
    case .notUTF8: "is not UTF-8"
    case .controlCharacter: "contains a control character or a line break"
    case .pathSeparator: "contains a slash or backslash"
    case .directoryReference: "stands for a directory"
    case .hidden: "begins with a dot"
    case .leadingHyphen: "begins with a hyphen, which programs take for an option"
    case .trailingDotOrSpace: "ends with a dot or a space"
    case .reservedDeviceName: "is the name of a device on Windows"
    case .bidirectionalControl: "contains characters that change the direction of writing"
    case .unseenCharacter: "contains characters that nobody sees"
    case .invisible: "has no visible character"
    case .tooDeep: "stands below more than \(SafeFolder.maximumDepth) folders"
    case .folderTooLong: "stands below folders whose names have more than \(SafeFolder.maximumByteCount) bytes"
    case .launcher: "is that of a shortcut, which desktops start or follow"
    case .notOnThisDisk: "contains a character that this file system does not take, such as : * ? \" < > |"
    }
  }
}
