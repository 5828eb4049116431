import Piconet
import PiconetCalls
import Synchronization

/// Frames for one member in one channel, in the order in which they were handed over one after the other. What can't be
/// taken at once waits for room; a frame above the size of a part goes in parts. What waits is bounded: by the number
/// of messages, and by their bytes beyond those of calls that wait for an answer, which the limits of calls bound.
final class FrameSender: Sendable {
  private struct State {
    /// Messages that wait, the next one first.
    var waiting: ArraySlice<Waiting> = []
    /// What they take, but for those of calls.
    var bytes = 0
    var isDraining = false
    var isClosed = false
    var hasOverflowed = false

    mutating func close() {
      isClosed = true
      waiting = []
      bytes = 0
    }
  }

  private struct Waiting {
    let message: [UInt8]
    /// The call of ours that it is, or is a part of; nil for anything else.
    let call: UInt64?

    /// What counts against the limit of bytes.
    var cost: Int { call == nil ? message.count + FrameSender.messageCost : 0 }
  }

  private let member: Member
  private let channel: MessageChannel
  private let partSize: Int
  /// The most messages that wait; beyond that it is closed.
  private let limit: Int
  /// The most bytes that wait, but for those of calls; beyond that it is closed, unless one frame alone takes more.
  let byteLimit: Int
  private let state = Mutex(State())

  /// The most bytes of a message that carries a part.
  static let partLimit = 65_536
  /// What the head of a part takes at most.
  private static let partHead = 32

  /// A member that takes no message of this length takes no calls: nearly all of each part would be its head, and one
  /// long answer millions of them.
  static let leastMessage = 128

  /// More than ever waits for a member that reads and keeps to the limits of calls.
  static let shortLimit = 4_096
  /// The most bytes of those.
  static let shortBytes = 16 * 1_048_576

  /// How many of the longest frames that this node takes may wait for a member as answers that it does not read.
  static let longFrames = 64
  /// What a message takes that waits, beside its bytes.
  private static let messageCost = 64

  init(to member: Member, in channel: MessageChannel, limit: Int = .max, byteLimit: Int = .max) {
    self.member = member
    self.limit = limit
    self.byteLimit = byteLimit
    self.channel = channel
    partSize = max(1, min(member.proven.messageLimit, Self.partLimit) - Self.partHead)
  }

  /// Whether a frame has to wait behind others, or goes nowhere.
  private var hasToWait: Bool { state.withLock { $0.isDraining || $0.isClosed } }

  /// Whether more has waited than may.
  var hasOverflowed: Bool { state.withLock { $0.hasOverflowed } }

  /// Takes the frame. If the member leaves, it goes nowhere: the membership says so.
  /// - Parameter call: the call of ours that it is.
  func send(_ frame: [UInt8], call: UInt64? = nil) {
    if frame.count <= partSize {
      // Not under the lock, if nothing waits: sending wakes the node's thread, which may have a frame for it itself.
      if !hasToWait, (try? member.trySend(frame, in: channel)) != false { return }
      return send(messages: CollectionOfOne(frame), call)
    }
    let id = UInt64.random(in: .min ... .max)
    send(messages: CallFrame.parts(of: frame, id: id, partSize).map(\.encoded), call)
  }

  /// Gives up what waits of a call. Parts of it that have left are ended by the `begin` of the next frame.
  func withdraw(call: UInt64) {
    state.withLock { state in state.waiting.removeAll { $0.call == call } }
  }

  /// Gives up what waits, and takes nothing more.
  func close() { state.withLock { $0.close() } }

  /// Takes nothing more; what waits still goes.
  func finish() { state.withLock { $0.isClosed = true } }

  /// Takes frames again: the member has another system.
  func reopen() { state.withLock { if !$0.hasOverflowed { $0.isClosed = false } } }

  private func send(messages: some Sequence<[UInt8]>, _ call: UInt64?) {
    state.withLock { state in
      if state.isClosed { return }
      let isAlone = state.bytes == 0
      for message in messages {
        let waiting = Waiting(message: message, call: call)
        if state.isDraining {
          guard state.waiting.count < limit, isAlone || state.bytes + waiting.cost <= byteLimit else {
            state.hasOverflowed = true
            return state.close()
          }
          state.waiting.append(waiting)
          state.bytes += waiting.cost
          continue
        }
        guard (try? member.trySend(message, in: channel)) == false else { continue }
        state.waiting.append(waiting)
        state.bytes += waiting.cost
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
        return state.withLock { state in
          state.close()
          state.isDraining = false
        }
      }
    }
  }

  private func next() -> [UInt8]? {
    state.withLock { state in
      let next = state.waiting.popFirst()
      if let next {
        state.bytes -= next.cost
      } else {
        state.isDraining = false
        state.waiting = []
      }
      return next?.message
    }
  }
}
