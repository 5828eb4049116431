import Piconet
import Synchronization

/// What one offer of a stranger has of the day, from before it is accepted until its transfer is over.
final class DailyShare: Sendable {
  /// What is offered, and by whom.
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
      let folders = offer.rawFolder.isEmpty ? 0 : offer.rawFolder.count { $0 == 0x2F } + 1
      self.init(
        sender: offer.sender.fingerprint, identity: offer.identity, size: offer.size,
        smallest: Self.blockByteCount * UInt64(1 + folders))
    }

    /// The least that a file or a folder takes of a disk.
    private static let blockByteCount: UInt64 = 4_096

    /// What counts if this much is here.
    func missing(behind offset: UInt64) -> Int64 { cost(of: size - min(size, offset)) }

    /// What counts if this many bytes come: nothing if none need to.
    func cost(of byteCount: UInt64) -> Int64 {
      byteCount == 0 && size > 0 ? 0 : Int64(clamping: max(byteCount, smallest))
    }
  }

  private struct State {
    var taking: StrangerAllowance.Taking
    var isBeyond = false
    var isOver = false
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

  /// Called when the place is known from which the content is to come. If less of it is here than there seemed to be,
  /// because a kept part has gone meanwhile, the difference is taken now.
  /// - Returns: why it may not come; nil if it may.
  func refusal(behind offset: UInt64) -> String? {
    let isCovered = state.withLock { state in
      // The disk may ask after the sender has left: what was taken is settled by then.
      guard !state.isOver, let taking = limit.extend(state.taking, to: content.missing(behind: offset)) else {
        state.isBeyond = true
        return false
      }
      state.taking = taking
      return true
    }
    return isCovered ? nil : Self.refusal
  }

  /// The transfer is over. Call it once.
  /// - Parameter came: how many bytes of the content have come, whatever became of them.
  func end(came: UInt64) {
    let taking = state.withLock { state in
      state.isOver = true
      return state.taking
    }
    limit.settle(taking, came: content.cost(of: came), releasing: mayResume ? content : nil)
  }
}
