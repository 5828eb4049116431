import PiconetWire

/// One direction of a connection: bytes that wait for the kernel, and bytes in flight.
final class Pipe {
  enum Cargo {
    case bytes(Bytes)
    /// The sender has closed in good order.
    case end
    /// The sender has aborted.
    case reset
  }

  let conditions: LinkConditions
  var waiting: [Bytes] = []
  /// The index of the first piece left in `waiting`.
  var waitingHead = 0
  var flight: [(arrival: UInt64, cargo: Cargo)] = []
  var flightHead = 0
  /// The number of bytes that the kernels hold.
  var buffered = 0
  /// When the last byte given to the medium has left.
  var busyUntil: UInt64 = 0
  var lastArrival: UInt64 = 0
  var stalledUntil: UInt64 = 0
  /// Whether nothing arrives any more. Bytes sent then fill the kernel's buffer and stay.
  var isDead = false
  /// The end that follows the last waiting byte.
  var closing: Cargo?
  var isArrivalEntered = false

  init(conditions: LinkConditions) { self.conditions = conditions }

  var hasWaiting: Bool { waitingHead < waiting.count }
  var nextArrival: UInt64? { flightHead < flight.count ? flight[flightHead].arrival : nil }

  /// Adds bytes that wait for the kernel. Small writes share a piece, as they share a segment.
  func wait(_ bytes: Bytes) {
    if waitingHead < waiting.count, waiting[waiting.count - 1].count + bytes.count <= 2_048 {
      waiting[waiting.count - 1].append(contentsOf: bytes)
    } else {
      waiting.append(bytes)
    }
  }

  func dropWaiting() {
    waiting = []
    waitingHead = 0
  }

  func dropFlight() {
    for index in flightHead..<flight.count {
      if case .bytes(let bytes) = flight[index].cargo { buffered -= bytes.count }
    }
    flight = []
    flightHead = 0
  }

  /// Moves as many bytes as fit into the kernel. Returns how many bytes were moved.
  func pump(at now: UInt64, dice: inout Dice) -> Int {
    var moved = 0
    while waitingHead < waiting.count, buffered < conditions.bufferLimit {
      let first = waiting[waitingHead]
      let piece = first.prefix(conditions.bufferLimit - buffered)
      if piece.count == first.count {
        waitingHead += 1
      } else {
        waiting[waitingHead] = first.dropFirst(piece.count)
      }
      moved += piece.count
      send(.bytes(piece), at: now, dice: &dice)
    }
    if !hasWaiting {
      dropWaiting()
      if let closing {
        self.closing = nil
        send(closing, at: now, dice: &dice)
      }
    }
    return moved
  }

  func send(_ cargo: Cargo, at now: UInt64, dice: inout Dice) {
    var count = 0
    if case .bytes(let bytes) = cargo { count = bytes.count }
    buffered += count
    busyUntil = max(now, busyUntil) + UInt64(count) * 1_000_000_000 / conditions.bytesPerSecond
    let jitter = conditions.jitter == 0 ? 0 : dice.word() % conditions.jitter
    lastArrival = max(lastArrival, busyUntil + conditions.latency + jitter)
    flight.append((lastArrival, cargo))
  }

  func popArrived() -> Cargo? {
    guard flightHead < flight.count else { return nil }
    let cargo = flight[flightHead].cargo
    flightHead += 1
    if case .bytes(let bytes) = cargo { buffered -= bytes.count }
    if flightHead == flight.count {
      flight.removeAll(keepingCapacity: true)
      flightHead = 0
    }
    return cargo
  }
}
