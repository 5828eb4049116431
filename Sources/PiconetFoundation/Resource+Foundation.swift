import Foundation
import Piconet

extension Resource {
  /// Creates a resource from a URL: a file of this machine, or the content at an http or https URL, as `file` and `url`
  /// do.
  /// - Parameters:
  ///   - url: a URL with the scheme `file`, `http` or `https`.
  ///   - name: the name to offer it under; nil: the last part of the path.
  ///   - folder: the folders below which to store it.
  ///   - mediaType: an IANA media type; nil: none, or for an http or https URL the one that the server states.
  ///   - metadata: free data, at most 4,096 bytes.
  /// - Throws: `invalidArgument` for a URL of another kind.
  public static func contents(
    of url: URL, named name: String? = nil, below folder: AcceptableFolder? = nil, mediaType: String? = nil,
    metadata: Data = Data()
  ) throws(PiconetError) -> Resource {
    let metadata = Array(metadata)
    if url.isFileURL {
      let path = url.path(percentEncoded: false)
      return .file(path, named: name, below: folder, mediaType: mediaType, metadata: metadata)
    }
    guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
      throw PiconetError(
        .invalidArgument, blame: .us,
        detail: "a URL to send has the scheme file, http or https, not '\(url.scheme ?? "")'")
    }
    return .url(url.absoluteString, named: name, below: folder, mediaType: mediaType, metadata: metadata)
  }

  /// Unavailable: `contents(of:)` takes every `URL`; only at run time is it known whether that names a file.
  @available(*, unavailable, renamed: "contents(of:named:below:mediaType:metadata:)")
  public static func file(_ url: URL, named name: String? = nil, mediaType: String? = nil) -> Resource {
    .file(url.path(percentEncoded: false), named: name, mediaType: mediaType)
  }

  /// Unavailable: `bytes` takes `Data`, too.
  @available(*, unavailable, renamed: "bytes(_:named:below:mediaType:metadata:)")
  public static func data(_ data: Data, named name: String, mediaType: String? = nil) -> Resource {
    .bytes(data, named: name, mediaType: mediaType)
  }

  /// Unavailable: `contents(of:)` takes every `URL`.
  @available(*, unavailable, renamed: "contents(of:named:below:mediaType:metadata:)")
  public static func url(_ url: URL, named name: String? = nil, mediaType: String? = nil) -> Resource {
    .url(url.absoluteString, named: name, mediaType: mediaType)
  }
}

extension ReceivedFile {
  /// The file's URL.
  public var url: URL { URL(filePath: path, directoryHint: .notDirectory) }
}

extension Node {
  /// Opens a directory for received files; see `receivingDirectory(at:maximumFileSize:)`.
  /// - Parameters:
  ///   - url: the URL of a directory that exists.
  ///   - maximumFileSize: a larger file is refused as `tooLarge`; nil: no limit but the disk's.
  public func receivingDirectory(
    at url: URL, maximumFileSize: UInt64? = nil
  ) async throws(PiconetError) -> ReceivingDirectory {
    guard url.isFileURL else {
      throw PiconetError(
        .invalidArgument, blame: .us, detail: "'\(url.absoluteString)' is no directory of this machine")
    }
    return try await receivingDirectory(at: url.path(percentEncoded: false), maximumFileSize: maximumFileSize)
  }
}
