import Piconet
import Synchronization

/// The files that a person has agreed to take from each sender that was asked about. Senders that may push have none
/// here, and everything that they offer is taken. Any thread may use it.
final class Consents: Sendable {
  /// Why an offer is turned away.
  enum Refusal: String, Sendable {
    /// The person wants others of its files.
    case notChosen = "not-chosen"
    /// The person has agreed to fewer files, or smaller ones.
    case moreThanAnnounced = "more-than-announced"
    /// It is there to pass on what others send.
    case relay = "relay"

    var message: String {
      switch self {
      case .notChosen: "not among the files that were chosen there"
      case .moreThanAnnounced: "more than was announced when it was asked"
      case .relay: "it is there as a relay, and nobody has agreed to files of its own"
      }
    }
  }

  private struct Consent {
    let selection: OfferSelection
    /// What was said before the question; nil: nothing.
    let announced: AnnouncedFiles?
    var files = 0
    var bytes: Int64 = 0
    /// Sizes of files that were agreed to, and whose names can't be used here: they come again under others.
    var unnamed: [UInt64] = []

    static let unnamedLimit = 1_024
  }

  /// Whether there may be members that were not let in as senders: a relay that we have joined ourselves.
  private let hasRelay: Bool
  private let accepted = Mutex<Set<NodeID>>([])

  /// - Parameter hasRelay: whether this program joins a relay: then only files of senders that were let in are taken.
  init(hasRelay: Bool = false) { self.hasRelay = hasRelay }

  /// A sender is let in, whether a person was asked or not. Call it before it is: its first offer comes at once.
  func letIn(_ sender: NodeID) { if hasRelay { _ = accepted.withLock { $0.insert(sender) } } }

  /// Bounded by the number of members, and one whose invitation is being accepted.
  private let consents = Mutex<[NodeID: Consent]>([:])

  /// Call it before the sender is let in: its first offer comes at once.
  func agree(to selection: OfferSelection, of announced: AnnouncedFiles?, from sender: NodeID) {
    consents.withLock { $0[sender] = Consent(selection: selection, announced: announced) }
  }

  /// The sender has left, or was not let in after all.
  func forget(_ sender: NodeID) {
    consents.withLock { $0[sender] = nil }
    accepted.withLock { _ = $0.remove(sender) }
  }

  /// Whether an offer is what the person has agreed to; then it is counted.
  /// - Parameters:
  ///   - name: with its folders.
  ///   - hasProvenCode: whether it was let in by a code that was typed.
  func refusal(of name: String, bytes: UInt64, from sender: NodeID, hasProvenCode: Bool = false) -> Refusal? {
    if hasRelay, !hasProvenCode, !accepted.withLock({ $0.contains(sender) }) { return .relay }
    return consents.withLock { consents in
      guard var consent = consents[sender] else { return nil }
      if !consent.selection.takes(name) {
        guard let chosen = consent.unnamed.firstIndex(of: bytes) else { return .notChosen }
        consent.unnamed.remove(at: chosen)
      }
      consent.files += 1
      consent.bytes.add(bytes: Int64(clamping: bytes))
      if let announced = consent.announced, announced.isWhole {
        let most = consent.selection.most(of: announced)
        if consent.files > most.files || consent.bytes > most.bytes { return .moreThanAnnounced }
      }
      consents[sender] = consent
      return nil
    }
  }

  /// An offer that was agreed to is refused for its name: it does not count, and its sender may offer the same file
  /// under a name that can be used here.
  func giveBack(_ bytes: UInt64, of sender: NodeID) {
    consents.withLock { consents in
      guard var consent = consents[sender] else { return }
      consent.files = max(0, consent.files - 1)
      consent.bytes = max(0, consent.bytes - Int64(clamping: bytes))
      if consent.unnamed.count < Consent.unnamedLimit { consent.unnamed.append(bytes) }
      consents[sender] = consent
    }
  }
}
