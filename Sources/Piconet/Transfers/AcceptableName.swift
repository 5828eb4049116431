import PiconetFiles

/// A file's name as receivers store it.
public struct AcceptableName: Sendable, Hashable {
  /// Not empty, at most 255 bytes of UTF-8.
  public let text: String
  /// Why no receiver would store the name as it was: a part of a sentence that follows "the name". Nil: it is as it was.
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
