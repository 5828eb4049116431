import PiconetFiles
import PiconetHTTP
import PiconetWire

/// Something sent as a whole, however large: a file, bytes in memory, or the content at a URL. `Member.send` and
/// `Session.send` send it.
///
/// ```swift
/// try await member.send(.file("/home/anna/sunset.jpg"))
/// for (id, result) in try await session.send(.bytes(png, named: "drawing.png", mediaType: "image/png")) {
///   if case .failure(let error) = result { print("\(id) has not got it: \(error)") }
/// }
/// ```
public struct Resource: Sendable {
  enum Content: Sendable {
    case file(path: String)
    case bytes(ArraySlice<UInt8>)
    case url(String, HTTPSettings)
  }

  let content: Content
  /// The name to offer it under, at most 1,024 bytes of UTF-8. It is sent as it is: a receiver that makes a file of it
  /// takes only a safe name (`AcceptableName`), or chooses another one (`IncomingOffer.store(in:as:)`). Nil: the last
  /// part of the path or of the URL's path, which must be such a name.
  public var name: String?
  /// The folders below which to store it; nil: none.
  public var folder: AcceptableFolder?
  /// An IANA media type for the receiver, such as `image/png`, at most 127 bytes of UTF-8. Nil: none, or for a URL the
  /// one that the server states.
  public var mediaType: String?
  /// Free data that the receiver gets with the offer, at most 4,096 bytes.
  public var metadata: [UInt8]
  /// The name of a file's content in offers, at most 64 bytes. The same bytes have the same name, so that an
  /// interrupted transfer can resume. Nil: derived from what the file system says of the file. Set it for a file that
  /// is made anew each time.
  package var contentIdentity: [UInt8]?
  /// The files on this machine that belong together, the file itself among them: a receiver gives all of them the same
  /// number.
  package var group = Group()

  /// Files that belong together, by their names.
  package struct Group: Sendable {
    package var paths: [String] = []
    /// Whether the files are sent with their content unchanged.
    package var keepsContent = true

    package init() {}

    /// Returns the part of the name that files belonging together with this one share; nil if the name is not that of a
    /// photo or film.
    package static func stem(of name: String) -> String? {
      let (stem, ending) = NumberedName.split(name)
      return FileEnding.rank(of: ending) == nil ? nil : stem
    }

    /// Returns the names with this stem for which a file exists.
    package static func names(of stem: String, where exists: (String) -> Bool) -> [String] {
      let photos = FileEnding.looked.map { stem + $0 }.filter(exists)
      let sidecars = ([stem] + photos).flatMap { name in FileEnding.lookedSidecars.map { name + $0 } }.filter(exists)
      return photos + sidecars
    }
  }

  private init(
    _ content: Content, _ name: String?, _ folder: AcceptableFolder?, _ mediaType: String?, _ metadata: [UInt8]
  ) {
    self.content = content
    self.name = name
    self.folder = folder
    self.mediaType = mediaType
    self.metadata = metadata
  }

  /// Creates a resource from a regular file; a symbolic link is followed. It is opened once, and read while it is sent.
  /// - Parameters:
  ///   - path: the path of the file.
  ///   - name: the name to offer it under; nil: the last part of the path.
  ///   - folder: the folders below which to store it.
  ///   - mediaType: an IANA media type.
  ///   - metadata: free data, at most 4,096 bytes.
  public static func file(
    _ path: String, named name: String? = nil, below folder: AcceptableFolder? = nil, mediaType: String? = nil,
    metadata: [UInt8] = []
  ) -> Resource {
    Resource(.file(path: path), name, folder, mediaType, metadata)
  }

  /// Creates a resource from bytes in memory, such as an array, or `text.utf8`. The storage of an array or a slice of
  /// one is shared, not copied.
  /// - Parameters:
  ///   - bytes: the content, of any length.
  ///   - name: the name to offer it under.
  ///   - folder: the folders below which to store it.
  ///   - mediaType: an IANA media type.
  ///   - metadata: free data, at most 4,096 bytes.
  public static func bytes(
    _ bytes: some Sequence<UInt8>, named name: String, below folder: AcceptableFolder? = nil, mediaType: String? = nil,
    metadata: [UInt8] = []
  ) -> Resource {
    let slice = bytes as? ArraySlice<UInt8> ?? Array(bytes)[...]
    return Resource(.bytes(slice), name, folder, mediaType, metadata)
  }

  /// Creates a resource from an http or https URL; bytes are passed on while the rest arrives. Arrived bytes wait in a
  /// file without a name, and the fetch stays no further ahead of the receivers than `HTTPSettings.aheadLimit`. If the
  /// server does not state the size, all of it is fetched first, up to `HTTPSettings.unannouncedSizeLimit`. For several
  /// receivers it is fetched once.
  /// - Parameters:
  ///   - url: an http or https URL.
  ///   - name: the name to offer it under; nil: the last part of the URL's path.
  ///   - folder: the folders below which to store it.
  ///   - mediaType: an IANA media type; nil: the one that the server states.
  ///   - metadata: free data, at most 4,096 bytes.
  ///   - settings: time-outs and limits of the fetch.
  public static func url(
    _ url: String, named name: String? = nil, below folder: AcceptableFolder? = nil, mediaType: String? = nil,
    metadata: [UInt8] = [], settings: HTTPSettings = HTTPSettings()
  ) -> Resource {
    Resource(.url(url, settings), name, folder, mediaType, metadata)
  }

  /// Refuses what no receiver would take. It does so here because the rule can be named here.
  func check() throws(PiconetError) {
    if let name, name.utf8.count > WireLimits.resourceName {
      throw Self.beyond("name", name.utf8.count, WireLimits.resourceName)
    }
    if let mediaType, mediaType.utf8.count > WireLimits.mediaType {
      throw Self.beyond("media type", mediaType.utf8.count, WireLimits.mediaType)
    }
    if metadata.count > WireLimits.metadata {
      throw Self.beyond("metadata", metadata.count, WireLimits.metadata)
    }
  }

  private static func beyond(_ part: String, _ count: Int, _ limit: Int) -> PiconetError {
    PiconetError(
      .invalidArgument, blame: .us, detail: "a resource's \(part) has \(count) bytes; it may have \(limit)")
  }
}
