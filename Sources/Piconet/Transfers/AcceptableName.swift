import PiconetFiles

/// A file's name as receivers store it.
public struct AcceptableName: Sendable, Hashable {
  /// Not empty, at most 255 bytes of UTF-8.
  public let text: String
  /// As `text`.
  public var bytes: [UInt8] { Array(text.utf8) }
  /// Why no receiver would store the name as it was: a part of a sentence that follows "the name". Nil: it is as it
  /// was.
  public let refusal: String?

  /// `photo.jpg` with 2 gives `photo (2).jpg`, for a sender that has offered another file under the name already.
  public func numbered(_ number: Int) -> AcceptableName {
    AcceptableName(text: (try? SafeFileName(text))?.numbered(number).text ?? text, refusal: refusal)
  }

  private init(text: String, refusal: String?) {
    self.text = text
    self.refusal = refusal
  }

  /// Takes a name as it is where receivers store it, and otherwise the nearest that they do.
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

/// Folders as receivers make them, the outermost first.
public struct AcceptableFolder: Sendable, Hashable {
  /// How many folders may stand within one another: 16.
  public static let depthLimit = SafeFolder.maximumDepth
  /// At most 2,048 bytes of UTF-8, with a slash between two names; empty: none.
  public let text: String

  /// Takes names as they are where receivers make folders of them, and otherwise the nearest that they do. Gives nil
  /// for what is too deep or too long for any receiver.
  /// - Parameter names: as in a directory, without slashes.
  public init?(_ names: [[UInt8]]) {
    guard let folder = SafeFolder(repairing: names) else { return nil }
    text = folder.text
  }
}
