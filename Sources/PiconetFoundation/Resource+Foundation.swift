import Foundation
import Piconet

extension Resource {
  /// What a URL leads to: a file of this machine, or what an http or https server has, as `file` and `url` say.
  /// - Parameters:
  ///   - url: with the scheme `file`, `http` or `https`.
  ///   - name: what to offer it as; nil: the last part of the path.
  ///   - folder: the folders that it is to be stored below.
  ///   - mediaType: an IANA media type; nil: none, or for what a server has the one that it states.
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

  /// `contents(of:)` takes every `URL`: whether it is one of a file shows only when the program runs.
  @available(*, unavailable, renamed: "contents(of:named:below:mediaType:metadata:)")
  public static func file(_ url: URL, named name: String? = nil, mediaType: String? = nil) -> Resource {
    .file(url.path(percentEncoded: false), named: name, mediaType: mediaType)
  }

  /// `bytes` takes `Data`, too.
  @available(*, unavailable, renamed: "bytes(_:named:below:mediaType:metadata:)")
  public static func data(_ data: Data, named name: String, mediaType: String? = nil) -> Resource {
    .bytes(data, named: name, mediaType: mediaType)
  }

  /// `contents(of:)` takes every `URL`.
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
  /// As `receivingDirectory(at:maximumFileSize:)`.
  /// - Parameters:
  ///   - url: of a directory that exists.
  ///   - maximumFileSize: a larger file is refused as `tooLarge`; nil: whatever fits.
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
