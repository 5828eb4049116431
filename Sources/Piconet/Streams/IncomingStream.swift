import PiconetEngine
import PiconetRuntime
import PiconetWire

/// A sequence of bytes from a member, without boundaries; `Session.streams` delivers them. Iterating gives slices of
/// what came, however it was written; `read(upTo:)` takes a limited part. A stream that is dropped before its end is
/// cancelled, and its writer is told.
///
/// Reading lets the writer go on: of an unread stream, 64 KiB come, and it holds up nothing else. Any task may read,
/// but one at a time, since each byte is handed out once. While one task iterates, another iterator gets `inProgress`
/// as long as the first exists, and so does a `read` while another waits.
public final class IncomingStream: Sendable, Identifiable, AsyncSequence {
  public typealias Element = ArraySlice<UInt8>

  /// Unique within the node.
  public let id: UInt64
  /// The name that the writer has given it, at most 1,024 bytes; the writer's own words: escape it before showing it on
  /// a terminal.
  public let name: String
  /// The member that writes it.
  public let member: Member
  let buffer: StreamBuffer

  init(_ id: StreamID, name: String, from member: Member, buffer: StreamBuffer) {
    self.id = id.rawValue
    self.name = name
    self.member = member
    self.buffer = buffer
  }

  deinit {
    if !buffer.isOver { core.cancel(stream, .cancelled, "the stream was dropped") }
    core.forget(stream)
  }

  /// The peer that writes it.
  public var sender: ProvenMember { member.proven }
  var core: NodeCore { member.core }
  var stream: StreamID { StreamID(rawValue: id) }

  /// Returns the next bytes: as many as wait but at most `count`, and at least one; nil at the end, when all has been
  /// read. Waits until there are some.
  ///
  /// Bytes that came before a connection was lost can still be read; those that came before the writer cancelled can't.
  /// - Throws: `cancelled` for the calling task, which leaves the stream as it is; why the writer has cancelled; why
  ///   the member has left; `invalidArgument` after `cancel`, or for a count below 1; `inProgress` while another task
  ///   waits for bytes.
  public func read(upTo count: Int) async throws(PiconetError) -> ArraySlice<UInt8>? {
    try Self.check(count)
    return try await read(upTo: count, isolation: nil)
  }

  /// Returns the next bytes that have arrived, at most `count`; never waits, for code outside a task. Empty if none
  /// have arrived, or if others wait for them; nil at the end, when all has been read.
  /// - Throws: see `read(upTo:)`.
  public func tryRead(upTo count: Int) throws(PiconetError) -> ArraySlice<UInt8>? {
    try Self.check(count)
    switch buffer.readNow(upTo: count) {
    case .bytes(let bytes): return bytes
    case .end: return nil
    case .failed(let error): throw error
    case nil: return []
    }
  }

  /// Whether `tryRead` would return some bytes. At the end, and where reading would throw, it is false.
  public var hasBytesAvailable: Bool { buffer.hasBytes }

  private static func check(_ count: Int) throws(PiconetError) {
    guard count > 0 else { throw PiconetError(.invalidArgument, blame: .us, detail: "a read takes at least one byte") }
  }

  private func read(
    upTo count: Int, isolation: isolated (any Actor)?
  ) async throws(PiconetError) -> ArraySlice<UInt8>? {
    switch await buffer.read(upTo: count, isolation: isolation) {
    case .bytes(let bytes): return bytes
    case .end: return nil
    case .failed(let error): throw error
    }
  }

  /// Cancels the stream: the writer gets an error with this code, and unread bytes are thrown away.
  public func cancel(_ code: PiconetError.Code = .cancelled, detail: String = "") {
    buffer.end(
      .void(PiconetError(.invalidArgument, peer: sender.id, blame: .us, detail: "the stream is cancelled")))
    core.cancel(stream, code.reason, detail)
  }

  /// Reads the waiting bytes, a piece at a time: nothing is copied.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let stream: IncomingStream
    private let reader = StreamBuffer.Reader()
    private var hasClaim = false

    init(stream: IncomingStream) { self.stream = stream }

    /// Returns the next bytes; nil at the end.
    public mutating func next() async throws(PiconetError) -> ArraySlice<UInt8>? { try await next(isolation: nil) }

    /// Returns the next bytes; nil at the end.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(PiconetError) -> ArraySlice<UInt8>? {
      if !hasClaim {
        guard stream.buffer.claim(reader) else {
          throw StreamBuffer.inUse("another iterator reads stream '\(stream.name)' of \(stream.member.name)")
        }
        hasClaim = true
      }
      return try await stream.read(upTo: StreamBuffer.onePiece, isolation: actor)
    }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream: self) }
}
