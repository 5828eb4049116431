import PiconetFiles

/// A file's name as receivers store it.
public struct AcceptableName: Sendable, Hashable {
  /// Not empty, at most 255 bytes of UTF-8.
  public let text: String
  /// As `text`.
  public var bytes: [UInt8] { Array(text.utf8) }
  /// Why no receiver would store the original name, worded to follow "the name" in a sentence. Nil: the name is
  /// unchanged.
  public let refusal: String?

  /// Returns the name with a number: `photo.jpg` with 2 gives `photo (2).jpg`. For a sender that has already offered
  /// another file under the name.
  public func numbered(_ number: Int) -> AcceptableName {
    AcceptableName(text: (try? SafeFileName(text))?.numbered(number).text ?? text, refusal: refusal)
  }

  /// The name with an underscore for each of `:*?"<>|`, which FAT, exFAT and NTFS, as on cards and sticks, allow in no
  /// name. A receiver that stores on one refuses the name itself with `nameRefused`.
  public var onCards: AcceptableName {
    // Nearly all names in an album contain none of these characters.
    guard text.utf8.contains(where: SafeFileName.notOnCards.contains) else { return self }
    return AcceptableName(text: (try? SafeFileName(text))?.onCards.text ?? text, refusal: refusal)
  }

  private init(text: String, refusal: String?) {
    self.text = text
    self.refusal = refusal
  }

  /// Takes a name as it is if receivers store it, and otherwise the nearest name that they store.
  /// - Parameter name: as in a directory, without slashes.
  public init(_ name: [UInt8]) {
    text = SafeFileName(repairing: name).text
    do throws(FileNameRefusal) {
      _ = try SafeFileName(bytes: name)
      refusal = nil
    } catch {
      refusal = error.explanation
    }
  }
}

/// Folders as receivers create them, the outermost first.
public struct AcceptableFolder: Sendable, Hashable {
  /// The number of folders that may be nested: 16.
  public static let depthLimit = SafeFolder.maximumDepth
  /// At most 2,048 bytes of UTF-8, with a slash between two names; empty: none.
  public let text: String

  /// Takes names as they are if receivers create folders with them, and otherwise the nearest such names. Nil for a
  /// path that is too deep or too long for any receiver.
  /// - Parameter names: as in a directory, without slashes.
  public init?(_ names: [[UInt8]]) {
    guard let folder = SafeFolder(repairing: names) else { return nil }
    text = folder.text
  }
}
