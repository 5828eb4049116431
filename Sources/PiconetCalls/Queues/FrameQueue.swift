/// Frames that wait to leave in one channel, in their order. A frame above the size of a part goes in parts, which are
/// cut as they leave. What waits is bounded: by the number of frames, and by their bytes, but for those of our own
/// calls, which the limits of calls bound.
public struct FrameQueue: Sendable {
  /// What a frame is about, for giving it up before it has left.
  public enum Subject: Hashable, Sendable {
    /// It is a call of ours.
    case call(UInt64)
    /// It is the answer to a call of the member.
    case answer(UInt64)
    case other
  }

  private struct Waiting: Sendable {
    let frame: [UInt8]
    let subject: Subject
    /// Of its parts.
    let id: UInt64
    /// So many bytes of it have left.
    var sent = 0

    /// What counts against the limit of bytes: all of it is kept until it has left.
    var cost: Int { if case .call = subject { 0 } else { frame.count + FrameQueue.frameCost } }
  }

  /// Those before `head` have left, and are nil.
  private var frames: [Waiting?] = []
  private var head = 0
  /// What waits takes so many bytes, but for calls of ours.
  public private(set) var bytes = 0
  private let partSize: Int
  private let countLimit: Int
  private let byteLimit: Int

  /// What a frame takes that waits, beside its bytes.
  private static let frameCost = 64

  /// - Parameters:
  ///   - partSize: the most bytes of a frame, or of it, in one message.
  ///   - countLimit: the most frames that wait.
  ///   - byteLimit: the most that they take, unless one alone takes more.
  public init(partSize: Int, countLimit: Int = .max, byteLimit: Int = .max) {
    self.partSize = max(1, partSize)
    self.countLimit = countLimit
    self.byteLimit = byteLimit
  }

  public var isEmpty: Bool { head == frames.count }

  /// How many frames wait, or have not left whole.
  public var count: Int { frames.count - head }

  /// - Parameters:
  ///   - frame: at least one byte.
  ///   - id: of its parts, if it goes in some: for this frame alone.
  /// - Returns: false: there is no room, and it was not added.
  public mutating func add(_ frame: [UInt8], _ subject: Subject, id: UInt64) -> Bool {
    let waiting = Waiting(frame: frame, subject: subject, id: id)
    let cost = waiting.cost
    guard count < countLimit, cost == 0 || bytes == 0 || bytes + cost <= byteLimit else { return false }
    frames.append(waiting)
    bytes += cost
    return true
  }

  /// The message that leaves next.
  public var next: [UInt8]? {
    guard !isEmpty, let first = frames[head] else { return nil }
    if first.frame.count <= partSize { return first.frame }
    let part = first.frame[first.sent..<min(first.sent + partSize, first.frame.count)]
    if first.sent > 0 { return CallFrame.next(id: first.id, part).encoded }
    return CallFrame.begin(id: first.id, total: UInt64(first.frame.count), part).encoded
  }

  /// It has left.
  public mutating func leave() {
    guard !isEmpty, let first = frames[head] else { return }
    let sent = min(first.sent + partSize, first.frame.count)
    if sent < first.frame.count {
      frames[head]?.sent = sent
      return
    }
    bytes -= first.cost
    frames[head] = nil
    head += 1
    if isEmpty {
      frames.removeAll(keepingCapacity: head <= 64)
      head = 0
    } else if head >= 64, head * 2 >= frames.count {
      frames.removeFirst(head)
      head = 0
    }
  }

  /// Gives up what waits of a call or an answer. Parts of it that have left are ended by the `begin` of the next frame.
  public mutating func withdraw(_ subject: Subject) {
    guard frames[head...].contains(where: { $0?.subject == subject }) else { return }
    frames = frames[head...].filter { $0?.subject != subject }
    head = 0
    bytes = frames.reduce(0) { $0 + ($1?.cost ?? 0) }
  }

  /// Gives up all that waits.
  public mutating func removeAll() {
    frames = []
    head = 0
    bytes = 0
  }
}
