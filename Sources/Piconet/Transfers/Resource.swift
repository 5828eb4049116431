import PiconetFiles
import PiconetHTTP
import PiconetWire

/// Something sent as a whole, however large: a file, bytes in memory, or what a server has. `Member.send` and
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
  /// What it is offered as, at most 1,024 bytes of UTF-8. It is sent as it is: a receiver that makes a file of it takes
  /// only a name that is safe (`AcceptableName`), or chooses another one (`IncomingOffer.store(in:as:)`). Nil: the last
  /// part of the path or of the URL's path, which must be such a name.
  public var name: String?
  /// The folders to store it below; nil: none.
  public var folder: AcceptableFolder?
  /// An IANA media type for the receiver, such as `image/png`, at most 127 bytes of UTF-8. Nil: none, or for a URL the
  /// one that the server states.
  public var mediaType: String?
  /// Free data that the receiver gets with the offer, at most 4,096 bytes.
  public var metadata: [UInt8]
  /// What a file's content is called in offers, at most 64 bytes: the same bytes have the same name, so that an
  /// interrupted transfer goes on. Nil: by what the file system says of the file; for one that is made anew each time.
  package var contentIdentity: [UInt8]?
  /// The files on this machine that belong together, the file itself among them: a receiver gives all the same number.
  package var group = Group()

  /// Files that belong together, by their names.
  package struct Group: Sendable {
    package var paths: [String] = []
    /// Whether what is sent of them is what is in them.
    package var keepsContent = true

    package init() {}

    /// What the names of files have in common that belong together with this one; nil for a name that belongs to no
    /// photo or film.
    package static func stem(of name: String) -> String? {
      let (stem, ending) = NumberedName.split(name)
      return FileEnding.rank(of: ending) == nil ? nil : stem
    }

    /// The names with this stem for which there is a file.
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

  /// A regular file; a symbolic link is followed. It is opened once, and read while it is sent.
  /// - Parameters:
  ///   - path: of the file.
  ///   - name: what to offer it as; nil: the last part of the path.
  ///   - folder: the folders that it is to be stored below.
  ///   - mediaType: an IANA media type.
  ///   - metadata: free data, at most 4,096 bytes.
  public static func file(
    _ path: String, named name: String? = nil, below folder: AcceptableFolder? = nil, mediaType: String? = nil,
    metadata: [UInt8] = []
  ) -> Resource {
    Resource(.file(path: path), name, folder, mediaType, metadata)
  }

  /// Bytes in memory, such as an array, or `text.utf8`. The storage of an array or a slice of one is shared, not
  /// copied.
  /// - Parameters:
  ///   - bytes: of any number.
  ///   - name: what to offer them as.
  ///   - folder: the folders that they are to be stored below.
  ///   - mediaType: an IANA media type.
  ///   - metadata: free data, at most 4,096 bytes.
  public static func bytes(
    _ bytes: some Sequence<UInt8>, named name: String, below folder: AcceptableFolder? = nil, mediaType: String? = nil,
    metadata: [UInt8] = []
  ) -> Resource {
    let slice = bytes as? ArraySlice<UInt8> ?? Array(bytes)[...]
    return Resource(.bytes(slice), name, folder, mediaType, metadata)
  }

  /// What an http or https server has, passed on while it arrives. What has arrived waits in a file without a name, and
  /// the fetch stays no further ahead of the receivers than `HTTPSettings.aheadLimit`. If the server does not say how
  /// long it is, all of it is fetched first, up to `HTTPSettings.unannouncedSizeLimit`. For several receivers it is
  /// fetched once.
  /// - Parameters:
  ///   - url: http or https.
  ///   - name: what to offer it as; nil: the last part of the URL's path.
  ///   - folder: the folders that it is to be stored below.
  ///   - mediaType: nil: as the server states.
  ///   - metadata: free data, at most 4,096 bytes.
  ///   - settings: time-outs and limits of the fetch.
  public static func url(
    _ url: String, named name: String? = nil, below folder: AcceptableFolder? = nil, mediaType: String? = nil,
    metadata: [UInt8] = [], settings: HTTPSettings = HTTPSettings()
  ) -> Resource {
    Resource(.url(url, settings), name, folder, mediaType, metadata)
  }

  /// Refuses here what no receiver would take, because here the rule can be named.
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
