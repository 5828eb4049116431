import PiconetEngine
import PiconetFiles
import PiconetHTTP
import PiconetWire

extension Member {
  /// Fetches an http or https URL and passes it on as a resource while it arrives; returns when the remote side has
  /// stored it. What arrives waits in a file without a name, and no more of it is fetched than the remote side takes
  /// and `HTTPSettings.aheadLimit`. Where the server does not say how long it is, all of it is fetched first, up to
  /// `HTTPSettings.unannouncedSizeLimit`. Cancelling the calling task cancels fetch and transfer.
  /// - Parameters:
  ///   - url: http or https.
  ///   - name: of the resource; nil: the last part of the URL's path.
  ///   - mediaType: nil: as the server says.
  ///   - metadata: free data that the receiver has with the offer, at most 4,096 bytes.
  ///   - settings: time-outs and limits of the fetch.
  ///   - progress: called on the node's loop with what the remote side has stored, in bytes, and the total; to return
  ///     quickly.
  /// - Throws: `invalidArgument` for another kind of URL or where no name follows from it; `sourceUnreadable` with the
  ///   server's status, a certificate that the system does not trust, or what else was wrong; `timedOut`,
  ///   `unreachable`, `tooLarge`; otherwise as `send(file:)`.
  public func send(
    url: String, name: String? = nil, mediaType: String? = nil, metadata: [UInt8] = [],
    settings: HTTPSettings = HTTPSettings(), progress: (@Sendable (_ stored: UInt64, _ total: UInt64) -> Void)? = nil
  ) async throws(PiconetError) -> SentFile {
    try await core.finish(
      startSending(
        url: url, name: name, mediaType: mediaType, metadata: metadata, settings: settings, progress: progress))
  }

  /// As `send(url:)`, but returns as soon as the size is known: the transfer can then be watched, paused and cancelled.
  public func startSending(
    url: String, name: String? = nil, mediaType: String? = nil, metadata: [UInt8] = [],
    settings: HTTPSettings = HTTPSettings(), progress: (@Sendable (_ stored: UInt64, _ total: UInt64) -> Void)? = nil
  ) async throws(PiconetError) -> OutgoingTransfer {
    let name = try Self.name(name, of: url)
    let fetch: HTTPFetch
    do throws(HTTPFailure) {
      fetch = try HTTPFetch(url, settings)
    } catch {
      throw error.piconetError(peer: id)
    }
    guard core.watch(fetch) else {
      core.close(fetch)
      throw PiconetError(.shuttingDown, blame: .us)
    }
    let answer = await withTaskCancellationHandler {
      await Self.size(of: fetch)
    } onCancel: {
      fetch.cancel()
    }
    switch answer {
    case .success(let (size, type)):
      guard
        let source = FetchedSource(
          fetch, name: Array(name.utf8), size: size, ended: { [core] in core.forget(fetch) })
      else {
        core.close(fetch)
        throw PiconetError(.internalError, blame: .us, detail: "no SHA-256")
      }
      return core.send(source, to: self, mediaType: mediaType ?? type, metadata: metadata, progress: progress)
    case .failure(let failure):
      core.close(fetch)
      throw failure.piconetError(peer: id)
    }
  }

  /// As the server says, or as it turns out.
  private static func size(of fetch: HTTPFetch) async -> Result<(UInt64, String), HTTPFailure> {
    switch await fetch.head() {
    case .failure(let failure): return .failure(failure)
    case .success(let head):
      if let size = head.size { return .success((size, head.mediaType)) }
      return await fetch.whole().map { ($0, head.mediaType) }
    }
  }

  /// What `send(url:)` says of a URL without asking anybody: whether it may be fetched, and what the resource is called
  /// unless it gets another name.
  /// - Throws: `invalidArgument`, with what is wrong.
  public static func resourceName(of url: String) throws(PiconetError) -> String {
    do throws(HTTPFailure) {
      _ = try HTTPAddress(url)
    } catch {
      throw PiconetError(.invalidArgument, blame: .us, detail: error.description, underlying: error)
    }
    return try name(nil, of: url)
  }

  private static func name(_ name: String?, of url: String) throws(PiconetError) -> String {
    if let name { return name }
    guard !lastComponent(of: url).isEmpty else {
      throw PiconetError(.invalidArgument, blame: .us, detail: "the URL's path does not end with the name of a file")
    }
    do throws(FileNameRefusal) {
      return try SafeFileName(bytes: lastComponent(of: url)).text
    } catch {
      throw PiconetError(
        .invalidArgument, blame: .us, detail: "the last part of the URL's path is no file name: it \(error.explanation)"
      )
    }
  }

  /// What follows the path's last slash (RFC 3986, section 3.3), percent-decoded.
  static func lastComponent(of url: String) -> [UInt8] {
    let withoutScheme = url.utf8.drop { $0 != 0x3A }.dropFirst(3)
    let path = withoutScheme.prefix { $0 != 0x3F && $0 != 0x23 }.drop { $0 != 0x2F }
    var rest = Array(path.split(separator: 0x2F, omittingEmptySubsequences: false).last ?? path[...])[...]
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      if byte == 0x25, let value = [UInt8](hexadecimal: String(decoding: rest.prefix(2), as: UTF8.self)),
        value.count == 1
      {
        bytes += value
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return bytes
  }
}
