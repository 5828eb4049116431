import PiconetEngine
import PiconetFiles
import PiconetHTTP

/// Opens resources before they are offered.
extension NodeCore {
  /// The sources of a resource, and its media type.
  struct OpenResource: Sendable {
    /// One for each receiver.
    var sources: [any OfferedSource]
    var mediaType: String
    /// The place of a file among open files, until nothing is read from it any more.
    var place: OpenFiles.Place?
    /// The group of files that it belongs to, as the offer states it.
    var group: [UInt8] = []
  }

  /// Opens a resource for `count` receivers.
  func open(_ resource: Resource, for count: Int) async throws(PiconetError) -> OpenResource {
    try resource.check()
    let mediaType = resource.mediaType ?? ""
    switch resource.content {
    case .file(let path):
      let place = await OpenFiles.ofProcess.place(for: .source)
      let sources = try await open(file: path, resource, for: count)
      let group = try await group(of: resource, sources.first)
      return OpenResource(sources: sources, mediaType: mediaType, place: place, group: group)
    case .bytes(let bytes):
      let sources = (0..<count).compactMap { _ in DataSource(bytes, name: Array((resource.name ?? "").utf8)) }
      guard sources.count == count else { throw Self.noHash }
      return OpenResource(sources: sources, mediaType: mediaType)
    case .url(let url, let settings):
      return try await open(url: url, settings, resource, for: count)
    }
  }

  /// On a thread that reads. For several receivers it is read only once while they keep together.
  private func open(
    file path: String, _ resource: Resource, for count: Int
  ) async throws(PiconetError) -> [any OfferedSource] {
    try await reading { () throws(FileFailure) -> [any OfferedSource] in
      if count == 1 { return [try FileSource(path: path, name: resource.name, identity: resource.contentIdentity)] }
      let file = try SharedFile(path: path, name: resource.name, identity: resource.contentIdentity)
      return (0..<count).map { _ in SharedSource(file) }
    }
  }

  /// On a thread that reads.
  private func group(of resource: Resource, _ source: (any OfferedSource)?) async throws(PiconetError) -> [UInt8] {
    guard resource.group.paths.count > 1, let name = source.flatMap({ try? SafeFileName(bytes: $0.name) }) else {
      return []
    }
    return try await reading { () throws(FileFailure) in
      FileGroup(ofFiles: resource.group.paths, offeredAs: name, keepsContent: resource.group.keepsContent)?.bytes ?? []
    }
  }

  /// Opens a fetch and returns when its size is known.
  private func open(
    url: String, _ settings: HTTPSettings, _ resource: Resource, for count: Int
  ) async throws(PiconetError) -> OpenResource {
    let name = if let name = resource.name { name } else { try Resource.name(ofURL: url) }
    let fetch = try begin(url, settings)
    let answer = await withTaskCancellationHandler {
      await Self.size(of: fetch)
    } onCancel: {
      fetch.cancel()
    }
    let (size, type): (UInt64, String)
    switch answer {
    case .success(let found): (size, type) = found
    case .failure(let failure):
      close(fetch)
      throw failure.piconetError(peer: nil)
    }
    let shared = SharedFetch(fetch, receivers: count) { [self] in forget(fetch) }
    let sources = (0..<count).compactMap { _ in FetchedSource(shared, name: Array(name.utf8), size: size) }
    guard !sources.isEmpty, sources.count == count else {
      close(fetch)
      if count == 0 { return OpenResource(sources: [], mediaType: type) }
      throw Self.noHash
    }
    return OpenResource(sources: sources, mediaType: resource.mediaType ?? type)
  }

  private static let noHash = PiconetError(.internalError, blame: .us, detail: "no SHA-256")

  private func begin(_ url: String, _ settings: HTTPSettings) throws(PiconetError) -> HTTPFetch {
    let fetch: HTTPFetch
    do throws(HTTPFailure) {
      fetch = try HTTPFetch(url, settings)
    } catch {
      throw error.piconetError(peer: nil)
    }
    guard watch(fetch) else {
      close(fetch)
      throw PiconetError(.shuttingDown, blame: .us)
    }
    return fetch
  }

  /// Returns the size that the server states, or else that of the whole content.
  private static func size(of fetch: HTTPFetch) async -> Result<(UInt64, String), HTTPFailure> {
    switch await fetch.head() {
    case .failure(let failure): return .failure(failure)
    case .success(let head):
      if let size = head.size { return .success((size, head.mediaType)) }
      return await fetch.whole().map { ($0, head.mediaType) }
    }
  }
}
