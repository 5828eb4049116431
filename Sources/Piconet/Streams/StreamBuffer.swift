import PiconetEngine
import PiconetWire
import Synchronization

/// What has come of a stream and was not read. The sender's credit bounds it: only reading gives more.
final class StreamBuffer: Sendable {
  enum Reading: Sendable {
    case bytes(ArraySlice<UInt8>)
    case end
    case failed(PiconetError)
  }

  enum End: Sendable {
    /// Behind what has come.
    case finished
    /// Behind what has come.
    case lost(PiconetError)
    /// What has come is void.
    case void(PiconetError)
  }

  private struct State {
    var waiting = StreamPieces()
    var end: End?
    /// Read, and not told to the engine.
    var untold = 0
    /// Somebody has read to the end, which is told also of a stream without a byte.
    var isReadToItsEnd = false
    var isTold = false
    var takers: [(id: UInt64, count: Int, continuation: CheckedContinuation<Reading, Never>)] = []
    var nextTaker: UInt64 = 0
  }

  private let state = Mutex(State())
  let sender: NodeID
  /// Tells the engine how many bytes were read.
  private let consumed: @Sendable (Int) -> Void
  /// A reader of small parts tells of them together.
  private static let toldTogether = 32 << 10
  /// In place of a count: what waits, as it lies there.
  static let onePiece = 0

  init(sender: NodeID, consumed: @escaping @Sendable (Int) -> Void) {
    self.sender = sender
    self.consumed = consumed
  }

  /// Bytes that wait.
  var count: Int { state.withLock { $0.waiting.count } }

  /// The end has come, behind what waits.
  var isFinished: Bool { state.withLock { if case .finished = $0.end { true } else { false } } }

  /// All was read, or won't be; of a stream without a byte only reading its end shows that it was taken.
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

  /// The first end counts, but that a finished stream may become void.
  func end(_ end: End) {
    serve { state in
      switch (state.end, end) {
      case (nil, _), (.finished, .void), (.lost, .void): state.end = end
      default: return
      }
      if case .void = end { state.waiting = StreamPieces() }
    }
  }

  /// Changes what there is, and answers those who wait for it.
  private func serve(_ change: (inout State) -> Void) {
    var answers: [(CheckedContinuation<Reading, Never>, Reading)] = []
    let told = state.withLock { state in
      change(&state)
      while let taker = state.takers.first, let reading = Self.take(taker.count, &state) {
        answers.append((taker.continuation, reading))
        state.takers.removeFirst()
      }
      return Self.tell(&state)
    }
    if let told { consumed(told) }
    for (continuation, reading) in answers { continuation.resume(returning: reading) }
  }

  private static func take(_ count: Int, _ state: inout State) -> Reading? {
    if state.waiting.isEmpty {
      switch state.end {
      case .finished:
        state.isReadToItsEnd = true
        return .end
      case .lost(let error), .void(let error): return .failed(error)
      case nil: return nil
      }
    }
    let taken = count == onePiece ? state.waiting.takePiece() : state.waiting.take(upTo: count)
    state.untold += taken.count
    return .bytes(taken)
  }

  /// What the engine is to be told now.
  private static func tell(_ state: inout State) -> Int? {
    let isDue = state.untold > 0 && (state.waiting.isEmpty || state.untold >= toldTogether)
    guard isDue || (state.isReadToItsEnd && !state.isTold) else { return nil }
    defer { state.untold = 0 }
    state.isTold = true
    return state.untold
  }

  /// The next bytes, at most `count`.
  func read(upTo count: Int, isolation: isolated (any Actor)?) async -> Reading {
    let (id, answer, told) = state.withLock { state -> (UInt64, Reading?, Int?) in
      state.nextTaker += 1
      // What is there needs no waiting.
      guard !Task.isCancelled, state.takers.isEmpty, let reading = Self.take(count, &state) else {
        return (state.nextTaker, nil, nil)
      }
      return (state.nextTaker, reading, Self.tell(&state))
    }
    if let told { consumed(told) }
    if let answer { return answer }
    return await withTaskCancellationHandler {
      await withCheckedContinuation(isolation: isolation) { continuation in
        let (answer, told) = state.withLock { state -> (Reading?, Int?) in
          if Task.isCancelled { return (.failed(Self.cancelled), nil) }
          guard state.takers.isEmpty, let reading = Self.take(count, &state) else {
            state.takers.append((id, count, continuation))
            return (nil, nil)
          }
          return (reading, Self.tell(&state))
        }
        if let told { consumed(told) }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      let taker = state.withLock { state -> CheckedContinuation<Reading, Never>? in
        guard let index = state.takers.firstIndex(where: { $0.id == id }) else { return nil }
        return state.takers.remove(at: index).continuation
      }
      taker?.resume(returning: .failed(Self.cancelled))
    }
  }

  private static let cancelled = PiconetError(.cancelled, blame: .us, detail: "the calling task was cancelled")
}
