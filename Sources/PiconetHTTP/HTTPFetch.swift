import CPiconetHTTP
import PiconetRuntime
import Synchronization

/// The settings of a fetch.
public struct HTTPSettings: Sendable, Hashable {
  /// The number of redirects that are followed. Default 5.
  public var redirectLimit = 5
  /// The time-out for the name look-up, the connection and TLS together, in milliseconds. Default 30 s.
  public var connectTimeoutMilliseconds = 30_000
  /// The number of seconds without data after which the fetch fails. Default 30.
  public var stallTimeoutSeconds = 30
  /// The most bytes that are accepted; nil: as many as a receiver accepts.
  public var sizeLimit: UInt64?
  /// The most bytes that are accepted if the server does not announce the size. Receivers can't be asked beforehand
  /// whether they want them, and all must be fetched first. Default 64 MiB.
  public var unannouncedSizeLimit: UInt64 = 64 << 20
  /// How many bytes are fetched ahead of the receivers' requests; then the server is held back. Default 4 MiB.
  public var aheadLimit: UInt64 = 4 << 20
  /// The folder in which arrived bytes wait until they have been passed on.
  public var spoolFolder = "/var/tmp"

  /// The defaults.
  public init() {}
}

/// A URL, fetched on a separate thread into a file without a name, from which others read while it arrives.
public final class HTTPFetch: Sendable {
  /// The server's statements before the first byte.
  public struct Head: Sendable, Hashable {
    /// In bytes; nil if the server does not know.
    public let size: UInt64?
    /// The media type that the server states; empty if it states none.
    public let mediaType: String
  }

  /// What a task waits for.
  private enum Moment {
    case head, end
  }

  private struct State {
    var head: Head?
    var count: UInt64 = 0
    /// Bytes before this offset have been requested.
    var wanted: UInt64 = 0
    var isHeldBack = false
    var end: Result<UInt64, HTTPFailure>?
    var isCancelled = false
    /// The fetch on the C side, which any thread may wake; nil before it begins and once it is over.
    var handle: Handle?
    var waiters = WaitingTasks<Moment>()
    var readers: [(reader: ObjectIdentifier, offset: UInt64, proceed: @Sendable () -> Void)] = []
    /// Some thread is calling readers back. A reader that asks meanwhile waits, even if its bytes have arrived: an
    /// earlier call of that reader may be about to be answered.
    var isTelling = false

    func isWanted(within limit: UInt64) -> Bool { count < wanted || count - wanted < limit }

    /// Bytes before this offset have arrived or never will.
    var answered: UInt64 { end != nil || isCancelled ? .max : count }

    /// Removes the callbacks whose bytes have arrived or never will, each reader's in order.
    mutating func takeReady() -> [@Sendable () -> Void] {
      var ready: [@Sendable () -> Void] = []
      var waiting: Set<ObjectIdentifier> = []
      let answered = answered
      readers.removeAll { entry in
        guard entry.offset <= answered, !waiting.contains(entry.reader) else {
          waiting.insert(entry.reader)
          return false
        }
        ready.append(entry.proceed)
        return true
      }
      return ready
    }
  }

  /// A fetch of the C side.
  private struct Handle: @unchecked Sendable {
    // Sendable is right: the fetching thread makes and frees it; others only wake it, under the same lock under which
    // it is removed.
    let pointer: OpaquePointer
  }

  private let url: String
  private let settings: HTTPSettings
  private let spool: SpoolFile
  private let state = Mutex(State())
  private let thread: WorkerThread

  /// Begins fetching.
  /// - Throws: `invalidURL`, `spool`.
  public init(_ url: String, _ settings: HTTPSettings) throws(HTTPFailure) {
    self.url = try HTTPAddress(url).text
    self.settings = settings
    spool = try SpoolFile(in: settings.spoolFolder)
    do throws(SystemError) {
      thread = try WorkerThread(name: "piconet-http")
    } catch {
      throw HTTPFailure(.other, "\(error)")
    }
    _ = thread.submit { [self] in run() }
  }

  /// Any thread. Cancels the fetch; waiting callers get `cancelled`.
  public func cancel() {
    state.withLock { state in
      state.isCancelled = true
      if let handle = state.handle { piconet_http_wake(handle.pointer) }
    }
    tellReaders()
  }

  /// Any thread that may block for a moment. Cancels the fetch and waits until its thread has ended.
  public func close() {
    cancel()
    thread.stop()
  }

  // MARK: Results

  /// Waits until the server has answered.
  public func head() async -> Result<Head, HTTPFailure> {
    await WaitingTasks<Moment>.wait { task in
      state.withLock { state in
        guard state.head == nil, state.end == nil else { return false }
        state.waiters.add(task, for: .head)
        return true
      }
    }
    return state.withLock { state in
      if let head = state.head { return .success(head) }
      if case .failure(let failure)? = state.end { return .failure(failure) }
      return .failure(HTTPFailure(.other, "the server said nothing"))
    }
  }

  /// Waits until everything has arrived, and returns its size in bytes.
  public func whole() async -> Result<UInt64, HTTPFailure> {
    await WaitingTasks<Moment>.wait { task in
      state.withLock { state in
        Self.want(.max, &state)
        guard state.end == nil else { return false }
        state.waiters.add(task, for: .end)
        return true
      }
    }
    return state.withLock { $0.end } ?? .failure(HTTPFailure(.other, "it has not ended"))
  }

  /// Calls back, on any thread, once the first `offset` bytes have arrived, or never will.
  /// - Parameter reader: calls of one reader are answered in order, and made by one thread at a time; different readers
  ///   don't wait for each other's requests.
  public func whenAvailable(
    upTo offset: UInt64, for reader: AnyObject, _ proceed: @escaping @Sendable () -> Void
  ) {
    let reader = ObjectIdentifier(reader)
    let isNow = state.withLock { state in
      Self.want(offset, &state)
      let isNow = offset <= state.answered && !state.isTelling && !state.readers.contains { $0.reader == reader }
      if !isNow { state.readers.append((reader, offset, proceed)) }
      return isNow
    }
    if isNow { proceed() }
  }

  /// Runs on one thread at a time: otherwise a reader's first request could be answered last.
  private func tellReaders() {
    var isTelling = false
    while true {
      let ready = state.withLock { state -> [@Sendable () -> Void] in
        guard isTelling || !state.isTelling else { return [] }
        let ready = state.takeReady()
        state.isTelling = !ready.isEmpty
        return ready
      }
      if ready.isEmpty { return }
      isTelling = true
      for proceed in ready { proceed() }
    }
  }

  private static func want(_ offset: UInt64, _ state: inout State) {
    guard offset > state.wanted else { return }
    state.wanted = offset
    if state.isHeldBack, let handle = state.handle { piconet_http_wake(handle.pointer) }
  }

  /// Fills the buffer with bytes that have arrived. Blocks only on the disk. Throws the reason if they have not arrived
  /// and never will.
  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(HTTPFailure) {
    let (count, end) = state.withLock { ($0.count, $0.end) }
    guard offset + UInt64(buffer.count) <= count else {
      if case .failure(let failure)? = end { throw failure }
      throw HTTPFailure(.cutOff, "only \(count) bytes came")
    }
    let error = spool.read(into: buffer, at: offset)
    guard error == 0 else { throw HTTPFailure(.spool(error), "the temporary file can't be read: error \(error)") }
  }

  /// The result; nil while the fetch goes on.
  public var end: Result<UInt64, HTTPFailure>? { state.withLock { $0.end } }

  /// The number of bytes that have arrived, and whether the server is held back until more is requested.
  var arrived: (count: UInt64, isHeldBack: Bool) { state.withLock { ($0.count, $0.isHeldBack) } }

  // MARK: On the fetching thread

  private func run() {
    var result = piconet_http_result()
    guard let pointer = piconet_http_make(&result) else { return finish(Self.failure(result)) }
    state.withLock { $0.handle = Handle(pointer: pointer) }
    url.withCString { url in
      "piconet".withCString { agent in
        var request = piconet_http_request(
          url: url, user_agent: agent, redirect_limit: settings.redirectLimit,
          connect_timeout_ms: settings.connectTimeoutMilliseconds, stall_timeout_s: settings.stallTimeoutSeconds,
          context: Unmanaged.passUnretained(self).toOpaque(),
          began: { context, length, type in
            HTTPFetch.from(context).map { $0.began(length, type.map { String(cString: $0) } ?? "") } ?? false
          },
          take: { context, bytes, count in
            HTTPFetch.from(context)?.take(UnsafeRawBufferPointer(start: bytes, count: count)) ?? piconet_http_taken_no
          },
          has_room: { context in HTTPFetch.from(context)?.hasRoom ?? true
          }, is_cancelled: { context in HTTPFetch.from(context)?.isCancelled ?? true })
        piconet_http_run(pointer, &request, &result)
      }
    }
    state.withLock { $0.handle = nil }
    piconet_http_free(pointer)
    finish(result.code == 0 ? nil : Self.failure(result))
  }

  /// `run` keeps the object as long as the C side has it.
  private static func from(_ context: UnsafeMutableRawPointer?) -> HTTPFetch? {
    context.map { Unmanaged<HTTPFetch>.fromOpaque($0).takeUnretainedValue() }
  }

  private var isCancelled: Bool { state.withLock { $0.isCancelled || $0.end != nil } }

  private func began(_ length: Int64, _ mediaType: String) -> Bool {
    if let limit = settings.sizeLimit, length > 0, UInt64(length) > limit { return refuse(tooLarge(limit)) }
    let woken = state.withLock { state in
      state.head = Head(size: length >= 0 ? UInt64(length) : nil, mediaType: mediaType)
      return state.waiters.take { $0 == .head }
    }
    woken.wake()
    return true
  }

  private var hasRoom: Bool {
    state.withLock { state in
      state.isHeldBack = !state.isWanted(within: settings.aheadLimit)
      return !state.isHeldBack
    }
  }

  private func take(_ bytes: UnsafeRawBufferPointer) -> piconet_http_taken {
    guard hasRoom else { return piconet_http_taken_later }
    return keep(bytes) ? piconet_http_taken_yes : piconet_http_taken_no
  }

  private func keep(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let (count, isAnnounced) = state.withLock { ($0.count, $0.head?.size != nil) }
    if let limit = settings.sizeLimit, count + UInt64(bytes.count) > limit { return refuse(tooLarge(limit)) }
    if !isAnnounced, count + UInt64(bytes.count) > settings.unannouncedSizeLimit {
      let limit = settings.unannouncedSizeLimit
      return refuse(
        HTTPFailure(
          .tooLarge(limit: limit),
          "the server does not say how large it is, and it is larger than the limit of \(limit) bytes for such"))
    }
    let error = spool.write(bytes, at: count)
    guard error == 0 else {
      return refuse(HTTPFailure(.spool(error), "what comes can't be kept in \(settings.spoolFolder): error \(error)"))
    }
    state.withLock { $0.count += UInt64(bytes.count) }
    tellReaders()
    return true
  }

  private func tooLarge(_ limit: UInt64) -> HTTPFailure {
    HTTPFailure(.tooLarge(limit: limit), "it is larger than the limit of \(limit) bytes")
  }

  private func refuse(_ failure: HTTPFailure) -> Bool {
    finish(failure)
    return false
  }

  /// Ends the fetch; the first end counts.
  private func finish(_ failure: HTTPFailure?) {
    let woken = state.withLock { state in
      if state.end == nil { state.end = failure.map { .failure($0) } ?? .success(state.count) }
      return state.waiters.take { _ in true }
    }
    woken.wake()
    tellReaders()
  }

  private static func failure(_ result: piconet_http_result) -> HTTPFailure {
    var result = result
    let message = withUnsafeBytes(of: &result.message) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    return HTTPFailure(code: result.code, status: result.status, message: message)
  }
}
