/// Frames that wait to leave in one channel, in their order. A frame above the size of a part goes in parts, which are
/// cut as they leave. The queue is bounded by the number of frames, and by their bytes. The bytes of our own calls are
/// not counted, since the limits of calls bound them.
public struct FrameQueue: Sendable {
  /// The subject of a frame, used to drop the frame before it has left.
  public enum Subject: Hashable, Sendable {
    /// Our call.
    case call(UInt64)
    /// The answer to a call of the member.
    case answer(UInt64)
    case other
  }

  private struct Waiting: Sendable {
    let frame: [UInt8]
    let subject: Subject
    /// The id of its parts.
    let id: UInt64
    /// The number of its bytes that have left.
    var sent = 0

    /// The share of the limit of bytes: the whole frame is kept until it has left.
    var cost: Int { if case .call = subject { 0 } else { frame.count + FrameQueue.frameCost } }
  }

  /// Frames before `head` have left, and are nil.
  private var frames: [Waiting?] = []
  private var head = 0
  /// The number of bytes that wait, without our calls.
  public private(set) var bytes = 0
  private let partSize: Int
  private let countLimit: Int
  private let byteLimit: Int

  /// The cost of a waiting frame, beside its bytes.
  private static let frameCost = 64

  /// - Parameters:
  ///   - partSize: the most bytes of a frame, or of a part of it, in one message.
  ///   - countLimit: the most frames that wait.
  ///   - byteLimit: the most bytes that they take, unless a single frame takes more.
  public init(partSize: Int, countLimit: Int = .max, byteLimit: Int = .max) {
    self.partSize = max(1, partSize)
    self.countLimit = countLimit
    self.byteLimit = byteLimit
  }

  public var isEmpty: Bool { head == frames.count }

  /// The number of frames that wait, or have not left as a whole.
  public var count: Int { frames.count - head }

  /// - Parameters:
  ///   - frame: at least one byte.
  ///   - id: the id of its parts, if it goes in parts: unique for this frame.
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

  /// Notes that this message has left.
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

  /// Drops the waiting part of a call or an answer. If parts of it have left, the `begin` of the next frame ends them.
  public mutating func withdraw(_ subject: Subject) {
    guard frames[head...].contains(where: { $0?.subject == subject }) else { return }
    frames = frames[head...].filter { $0?.subject != subject }
    head = 0
    bytes = frames.reduce(0) { $0 + ($1?.cost ?? 0) }
  }

  /// Drops all waiting frames.
  public mutating func removeAll() {
    frames = []
    head = 0
    bytes = 0
  }
}
