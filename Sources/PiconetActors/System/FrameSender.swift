import Piconet
import PiconetCalls
import Synchronization

/// Frames for one member in one channel, in the order in which they were handed over one after the other. What can't be
/// taken at once waits for room; a frame above the size of a part goes in parts. How much waits is bounded by the calls
/// that may have no answer, in both directions, and in the channel of short frames by their number.
final class FrameSender: Sendable {
  private struct State {
    /// Messages that wait, the next one first.
    var waiting: ArraySlice<[UInt8]> = []
    var isDraining = false
    var isClosed = false
    var hasOverflowed = false
  }

  private let member: Member
  private let channel: MessageChannel
  private let partSize: Int
  /// The most messages that wait; beyond that it is closed.
  private let limit: Int
  private let state = Mutex(State())

  /// The most bytes of a message that carries a part.
  static let partLimit = 65_536
  /// What the head of a part takes at most.
  private static let partHead = 32

  /// More than ever waits for a member that reads and keeps to the limits of calls.
  static let shortLimit = 4_096

  init(to member: Member, in channel: MessageChannel, limit: Int = .max) {
    self.member = member
    self.limit = limit
    self.channel = channel
    partSize = max(1, min(member.proven.messageLimit, Self.partLimit) - Self.partHead)
  }

  /// Whether a frame has to wait behind others, or goes nowhere.
  private var hasToWait: Bool { state.withLock { $0.isDraining || $0.isClosed } }

  /// Whether more has waited than may.
  var hasOverflowed: Bool { state.withLock { $0.hasOverflowed } }

  /// Takes the frame. If the member leaves, it goes nowhere: the membership says so.
  func send(_ frame: [UInt8]) {
    if frame.count <= partSize {
      // Not under the lock, if nothing waits: sending wakes the node's thread, which may have a frame for it itself.
      if !hasToWait, (try? member.trySend(frame, in: channel)) != false { return }
      return send(messages: CollectionOfOne(frame))
    }
    let id = UInt64.random(in: .min ... .max)
    send(messages: CallFrame.parts(of: frame, id: id, partSize).map(\.encoded))
  }

  /// Gives up what waits, and takes nothing more.
  func close() {
    state.withLock { state in
      state.isClosed = true
      state.waiting = []
    }
  }

  private func send(messages: some Sequence<[UInt8]>) {
    state.withLock { state in
      if state.isClosed { return }
      for message in messages {
        if state.isDraining {
          guard state.waiting.count < limit else {
            state.hasOverflowed = true
            state.isClosed = true
            state.waiting = []
            return
          }
          state.waiting.append(message)
          continue
        }
        guard (try? member.trySend(message, in: channel)) == false else { continue }
        state.waiting.append(message)
        state.isDraining = true
        Task { await drain() }
      }
    }
  }

  private func drain() async {
    while let message = next() {
      do throws(PiconetError) {
        try await member.send(message, in: channel)
      } catch {
        // It has left. What comes later is not taken either.
        return state.withLock { $0.waiting = [] }
      }
    }
  }

  private func next() -> [UInt8]? {
    state.withLock { state in
      let next = state.waiting.popFirst()
      if next == nil {
        state.isDraining = false
        state.waiting = []
      }
      return next
    }
  }
}
