import Piconet
import PiconetCalls
import Synchronization

/// Frames for one member in one channel, in the order in which they were submitted. Frames that can't be taken at once
/// wait for room, in a `FrameQueue`.
final class FrameSender: Sendable {
  private struct State {
    var queue: FrameQueue
    /// Whether a task hands over the waiting frames.
    var isDraining = false
    var isClosed = false
    /// Whether frames wait until the member has greeted.
    var isHeld: Bool
    var hasOverflowed = false

    mutating func close() {
      isClosed = true
      queue.removeAll()
    }
  }

  private let member: Member
  private let channel: MessageChannel
  private let partSize: Int
  /// The most bytes that wait; beyond that it is closed.
  let byteLimit: Int
  private let state: Mutex<State>

  /// The most bytes of a message that carries a part.
  static let partLimit = 65_536
  /// The most bytes of a part's head.
  private static let partHead = 32

  /// A member that takes no message of this length takes no calls: nearly all of each part would be its head, and a
  /// long answer would take millions of parts.
  static let leastMessage = 128

  /// More frames than ever wait for a member that reads and keeps to the limits of calls.
  static let shortLimit = 4_096
  /// The most bytes of those frames.
  static let shortBytes = 16 * 1_048_576

  /// - Parameters:
  ///   - limit: the most frames that wait; beyond that it is closed.
  ///   - byteLimit: the most bytes that wait; beyond that it is closed.
  ///   - isHeld: whether it takes frames, and sends none before `open`.
  init(
    to member: Member, in channel: MessageChannel, limit: Int = .max, byteLimit: Int = .max, isHeld: Bool = false
  ) {
    self.member = member
    self.byteLimit = byteLimit
    self.channel = channel
    partSize = max(1, min(member.proven.messageLimit, Self.partLimit) - Self.partHead)
    let queue = FrameQueue(partSize: partSize, countLimit: limit, byteLimit: byteLimit)
    state = Mutex(State(queue: queue, isHeld: isHeld))
  }

  /// Whether a frame has to wait behind others, or is dropped.
  private var hasToWait: Bool { state.withLock { $0.isDraining || $0.isClosed || $0.isHeld } }

  /// Whether more has waited than may.
  var hasOverflowed: Bool { state.withLock { $0.hasOverflowed } }

  /// The number of bytes that wait, without those of our calls.
  var waitingBytes: Int { state.withLock { $0.queue.bytes } }

  /// Takes the frame. If the member leaves, the frame is dropped: the membership's end reports it.
  func send(_ frame: [UInt8], _ subject: FrameQueue.Subject = .other) {
    // Not under the lock, if nothing waits: sending wakes the node's thread, which may have a frame for this sender
    // itself.
    if frame.count <= partSize, !hasToWait, (try? member.trySend(frame, in: channel)) != false { return }
    let id = frame.count > partSize ? UInt64.random(in: .min ... .max) : 0
    state.withLock { state in
      if state.isClosed { return }
      guard state.queue.add(frame, subject, id: id) else {
        state.hasOverflowed = true
        return state.close()
      }
      if !state.isDraining, !state.isHeld { sendWaiting(&state) }
    }
  }

  private func sendWaiting(_ state: inout State) {
    while let message = state.queue.next {
      // If it throws, the member has left, and the frame is dropped.
      guard (try? member.trySend(message, in: channel)) != false else {
        state.isDraining = true
        Task { await drain() }
        return
      }
      state.queue.leave()
    }
  }

  /// Drops the waiting frames of a call or an answer.
  func withdraw(_ subject: FrameQueue.Subject) { state.withLock { $0.queue.withdraw(subject) } }

  /// Drops the waiting frames, and takes no more.
  func close() { state.withLock { $0.close() } }

  /// Takes no more frames; those that wait are still sent.
  func finish() { state.withLock { $0.isClosed = true } }

  /// Sends the waiting frames, and takes frames again: the member has greeted, perhaps with another system.
  func open() {
    state.withLock { state in
      if state.hasOverflowed { return }
      state.isClosed = false
      state.isHeld = false
      if !state.isDraining { sendWaiting(&state) }
    }
  }

  private func drain() async {
    while let message = next() {
      do throws(PiconetError) {
        try await member.send(message, in: channel)
      } catch {
        // The member has left. Later frames are not taken either.
        return state.withLock { state in
          state.close()
          state.isDraining = false
        }
      }
    }
  }

  private func next() -> [UInt8]? {
    state.withLock { state in
      let message = state.queue.next
      if message == nil { state.isDraining = false } else { state.queue.leave() }
      return message
    }
  }
}
