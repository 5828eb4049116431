import Piconet

/// A file to be sent, or a URL whose content is to be sent.
struct GatheredFile: Hashable, Sendable {
  let path: LocalPath
  /// Where its content is, if not there.
  var content: LocalPath? = nil
  /// In bytes, when it was looked at; it may have changed since. 0 for a URL.
  let size: Int64
  /// nil for a file that is not an image, which only `--any` lets through, and for a URL, which the receiver will look
  /// at.
  let kind: ImageKind?
  /// What it is offered as: no other file of the command has the same name in the same folder.
  let name: AcceptableName
  /// The folder to store it in; nil: none, as for files that were named themselves.
  let folder: AcceptableFolder?
  /// Why it is not offered under its own name, worded to follow "since" in a sentence.
  let renaming: String?
  /// Where it is offered if a receiver's disk does not take a character of its name or folder; nil: they have no such
  /// character.
  var onCards: CardPlace? = nil
  /// The results of former tries in this run: the file was given back when the receiver was gone.
  var former = FormerTries()
  /// The files beside it that belong together with it, and itself; empty: none.
  var group: [LocalPath] = []
  /// Whether the path is a URL.
  var isURL: Bool { path.isURL }
  /// Its name behind its folders.
  var offeredPath: String { (folder.map { $0.text + "/" } ?? "") + name.text }

  /// The progress of a file that was given back.
  struct FormerTries: Hashable, Sendable {
    /// Whether a receiver was offered it.
    var wasOffered = false
    /// Bytes that have crossed the link.
    var transferred: Int64 = 0
    /// Bytes that were on their way when the receiver fell silent, if the receiver lacked only these: it may then have
    /// stored the file without its being known here.
    var unconfirmed: Int64?
  }

  /// A name and a folder that cards and sticks take, and no other file of the command has.
  struct CardPlace: Hashable, Sendable {
    let name: AcceptableName
    let folder: AcceptableFolder?
  }

  /// It, offered where cards and sticks take it.
  func offered(at place: CardPlace) -> GatheredFile {
    GatheredFile(
      path: path, content: content, size: size, kind: kind, name: place.name, folder: place.folder,
      renaming: "the receiver's disk does not take its name", group: group)
  }
}

/// An operand, or something below it, that can't be sent.
struct GatheringFailure: Error, Hashable, Sendable {
  enum Reason: Hashable, Sendable {
    /// The errno of the call that failed.
    case system(Int32)
    /// A FIFO, a socket, a device.
    case notARegularFile
    case notAnImage
    /// It has no bytes.
    case empty
    case noImages
    case tooDeep
    /// Not a valid URL, with what is wrong.
    case badURL(String)
  }

  let path: LocalPath
  let reason: Reason

  /// They concern a local file, unless it was written wrongly.
  var exitCode: ExitCode { if case .badURL = reason { .usage } else { .localFile } }

  /// A word for programs.
  var word: String {
    switch reason {
    case .system: "unreadable"
    case .notARegularFile: "not-a-regular-file"
    case .notAnImage: "not-an-image"
    case .empty: "empty"
    case .noImages: "no-images"
    case .tooDeep: "too-deep"
    case .badURL: "invalid-argument"
    }
  }

  /// In words; the path is not in it.
  var message: String {
    switch reason {
    case .system(let code): ErrorNumber.text(code)
    case .notARegularFile: "not a regular file"
    case .notAnImage: "not a photo or video; use --any to send it all the same"
    case .empty: "the file is empty; use --any to send it all the same"
    case .noImages: "the directory has no photos or videos"
    case .tooDeep:
      "more than \(AcceptableFolder.depthLimit) directories within one another; with --flat, up to \(CommandLineLimits.directoryDepth)"
    case .badURL(let why): why
    }
  }
}
