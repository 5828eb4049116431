import PiconetEngine
import PiconetWire
import Synchronization

/// Bytes that a stream has received and that are still unread. The sender's credit bounds them: only reading gives
/// more.
final class StreamBuffer: Sendable {
  enum Reading: Sendable {
    case bytes(ArraySlice<UInt8>)
    case end
    case failed(PiconetError)
  }

  enum End: Sendable {
    /// The end, after the bytes that have come.
    case finished
    /// A loss, after the bytes that have come.
    case lost(PiconetError)
    /// The bytes that have come are thrown away.
    case void(PiconetError)
  }

  /// One iteration.
  final class Reader: Sendable {}

  private struct State: AwaitedState {
    var waiting = StreamPieces()
    var end: End?
    /// Bytes that were read and not yet reported to the engine.
    var unreported = 0
    /// Whether it has been read to the end; this is reported even for a stream without a byte.
    var isReadToItsEnd = false
    var isTold = false
    /// Each waiter needs the most bytes that it takes.
    var waiters = Waiters<Int, Reading>(
      limit: 1, refusal: .failed(StreamBuffer.inUse("another task waits for the next bytes of this stream")))
    weak var reader: Reader?

    mutating func answer(to count: Int) -> Reading? {
      if waiting.isEmpty {
        switch end {
        case .finished:
          isReadToItsEnd = true
          return .end
        case .lost(let error), .void(let error): return .failed(error)
        case nil: return nil
        }
      }
      let taken = count == onePiece ? waiting.takePiece() : waiting.take(upTo: count)
      unreported += taken.count
      return .bytes(taken)
    }

    /// Returns how many bytes to report to the engine now.
    mutating func tell() -> Int? {
      let isDue = unreported > 0 && (waiting.isEmpty || unreported >= toldTogether)
      guard isDue || (isReadToItsEnd && !isTold) else { return nil }
      defer { unreported = 0 }
      isTold = true
      return unreported
    }
  }

  private let state = Mutex(State())
  let sender: NodeID
  /// Tells the engine how many bytes were read.
  private let consumed: @Sendable (Int) -> Void
  /// The number of bytes from which small reads are reported, together.
  private static let toldTogether = 32 << 10
  /// In place of a count: the first waiting piece, as it is.
  static let onePiece = 0

  init(sender: NodeID, consumed: @escaping @Sendable (Int) -> Void) {
    self.sender = sender
    self.consumed = consumed
  }

  /// The number of bytes that wait.
  var count: Int { state.withLock { $0.waiting.count } }

  /// Whether the end has come, after the waiting bytes.
  var isFinished: Bool { state.withLock { if case .finished = $0.end { true } else { false } } }

  /// Whether all has been read, or won't be. For a stream without a byte, only reading its end shows that it was taken.
  var isOver: Bool {
    state.withLock { state in
      switch state.end {
      case .finished: state.waiting.isEmpty && state.isTold
      case .lost: state.waiting.isEmpty
      case .void: true
      case nil: false
      }
    }
  }

  func push(_ bytes: Bytes) {
    serve { state in
      if state.end == nil { state.waiting.append(bytes) }
    }
  }

  /// Ends the stream. The first end counts, except that a finished stream may become void.
  func end(_ end: End) {
    serve { state in
      switch (state.end, end) {
      case (nil, _), (.finished, .void), (.lost, .void): state.end = end
      default: return
      }
      if case .void = end { state.waiting = StreamPieces() }
    }
  }

  /// Changes the state, and answers the tasks that wait for that.
  private func serve(_ change: (inout State) -> Void) {
    let (answers, told) = state.withLock { state in
      change(&state)
      return (state.serve(), state.tell())
    }
    // Comes first: the reader may go on to end the stream, or the node.
    if let told { consumed(told) }
    answers.tell()
  }

  /// Whether there are bytes that no reader was waiting for.
  var hasBytes: Bool { state.withLock { !$0.waiting.isEmpty && $0.waiters.isEmpty } }

  /// Returns the next bytes, at most `count`, or the end, if they have come and no reader waits for them; nil: not now.
  func readNow(upTo count: Int) -> Reading? {
    let (answer, told) = state.withLock { state -> (Reading?, Int?) in
      guard state.waiters.isEmpty, let reading = state.answer(to: count) else { return (nil, nil) }
      return (reading, state.tell())
    }
    if let told { consumed(told) }
    return answer
  }

  /// Returns whether the reader may take the bytes now: the first one that asks may, for as long as it exists.
  func claim(_ reader: Reader) -> Bool {
    state.withLock { state in
      if state.reader == nil { state.reader = reader }
      return state.reader === reader
    }
  }

  /// Returns the next bytes, at most `count`, for one caller at a time: two would each get some, and neither would
  /// know.
  func read(upTo count: Int, isolation: isolated (any Actor)?) async -> Reading {
    // Bytes that have come need no waiting.
    if !Task.isCancelled, let answer = readNow(upTo: count) { return answer }
    let reading = await state.wait(for: count, ifCancelled: .failed(Self.cancelled))
    // The answer may have been there without waiting: then it has not been reported yet.
    if let told = state.withLock({ $0.tell() }) { consumed(told) }
    return reading
  }

  static func inUse(_ detail: String) -> PiconetError { PiconetError(.inProgress, blame: .us, detail: detail) }

  private static let cancelled = PiconetError(.cancelled, blame: .us, detail: "the calling task was cancelled")
}
