import Piconet
import Synchronization

/// The part of the day's limit that one stranger's offer takes, from before it is accepted until its transfer is over.
final class DailyShare: Sendable {
  /// The offered content, and its sender.
  struct Content: Hashable, Sendable {
    let sender: PeerID
    /// Empty: nothing is kept of it.
    let identity: [UInt8]
    let size: UInt64
    /// The least that counts for it, however small it is.
    let smallest: UInt64

    init(sender: PeerID, identity: [UInt8], size: UInt64, smallest: UInt64 = 0) {
      self.sender = sender
      self.identity = identity
      self.size = size
      self.smallest = smallest
    }

    init(_ offer: IncomingOffer) {
      let names = offer.rawFolder.isEmpty ? 0 : offer.rawFolder.count { $0 == 0x2F } + 1
      // Deeper ones are refused.
      let folders = min(names, AcceptableFolder.depthLimit)
      self.init(
        sender: offer.sender.fingerprint, identity: offer.identity, size: offer.size,
        smallest: Self.blockByteCount * UInt64(1 + folders))
    }

    /// The least that a file or a folder takes of a disk.
    static let blockByteCount: UInt64 = 4_096

    // The same content may go into folders of different depths.
    static func == (one: Content, other: Content) -> Bool {
      one.sender == other.sender && one.identity == other.identity && one.size == other.size
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(sender)
      hasher.combine(identity)
      hasher.combine(size)
    }

    /// Returns the bytes that count in advance if this much is here already: 0 if no more has to come.
    func missing(behind offset: UInt64) -> Int64 {
      let byteCount = size - min(size, offset)
      return byteCount == 0 && size > 0 ? 0 : Int64(clamping: max(byteCount, smallest))
    }

    /// What counts in the end.
    /// - Parameters:
    ///   - byteCount: how much of it has come.
    ///   - isStored: whether there is one more file because of it.
    func cost(of byteCount: UInt64, isStored: Bool) -> Int64 {
      Int64(clamping: isStored ? max(byteCount, smallest) : byteCount)
    }
  }

  private struct State {
    var taking: StrangerAllowance.Taking
    /// What of that is for bytes that were here and came again.
    var repeated: Int64 = 0
    var isBeyond = false
    var isOver = false

    /// What is taken for content that comes for the first time.
    var content: Int64 { taking.bytes - repeated }
  }

  /// What the sender's user reads.
  static let refusal = "a device that is not known may send no more today"

  private let content: Content
  private let mayResume: Bool
  private let limit: DailyLimit
  private let state: Mutex<State>

  /// - Parameter mayResume: whether it alone may go on behind a part that is kept.
  init(of content: Content, _ taking: StrangerAllowance.Taking, mayResume: Bool, in limit: DailyLimit) {
    self.content = content
    self.mayResume = mayResume
    self.limit = limit
    state = Mutex(State(taking: taking))
  }

  /// Whether less was left of the day than the transfer turned out to need.
  var isBeyond: Bool { state.withLock { $0.isBeyond } }

  /// Called once it is known from where on the content is to come. If less of it is here than it seemed, because a kept
  /// part has gone meanwhile, the difference is taken now.
  /// - Returns: why it may not come; nil if it may.
  func refusal(behind offset: UInt64) -> String? {
    let isCovered = state.withLock { state in
      extend(&state, by: max(0, content.missing(behind: offset) - state.content))
    }
    return isCovered ? nil : Self.refusal
  }

  /// The sender has sent so many bytes again that are here: they count like any others.
  /// - Returns: false if less is left.
  func mayRepeat(_ byteCount: Int) -> Bool {
    state.withLock { state in
      guard extend(&state, by: Int64(byteCount)) else { return false }
      state.repeated.add(bytes: Int64(byteCount))
      return true
    }
  }

  private func extend(_ state: inout State, by byteCount: Int64) -> Bool {
    var bytes = state.taking.bytes
    bytes.add(bytes: byteCount)
    // The disk may ask after the sender has left: what was taken is settled by then.
    guard !state.isOver, let taking = limit.extend(state.taking, to: bytes) else {
      state.isBeyond = true
      return false
    }
    state.taking = taking
    return true
  }

  /// The transfer is over. Call it once.
  /// - Parameters:
  ///   - came: how many bytes of the content have come, whatever became of them, some of them perhaps twice.
  ///   - isStored: whether there is one more file because of it.
  func end(came: UInt64, isStored: Bool) {
    let taking = state.withLock { state in
      state.isOver = true
      return state.taking
    }
    limit.settle(taking, came: content.cost(of: came, isStored: isStored), releasing: mayResume ? content : nil)
  }
}
