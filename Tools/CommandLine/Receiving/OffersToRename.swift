import Piconet

/// Offers that were refused because the disk does not take a character of their names. The sender offers such a file
/// again at once under another name, and then it has not failed. A value, and of limited size.
struct OffersToRename<Offer: Sendable>: Sendable {
  struct Held: Sendable {
    let offer: Offer
    /// The name, behind its folders.
    let name: String
    let failure: TransferFailure
  }

  /// What both offers of a file have in common.
  struct Key: Hashable, Sendable {
    let sender: NodeID
    /// Identifies the content; empty: the sender states nothing of it.
    let identity: [UInt8]
    let size: UInt64
  }

  private var held: [Key: Held] = [:]

  /// - Returns: whether the offer may come again; otherwise it has failed.
  mutating func hold(_ key: Key, _ offer: Held) -> Bool {
    guard held.count < CommandLineLimits.offersToRename, held[key] == nil, !key.identity.isEmpty,
      Self.hasOtherName(offer.name)
    else { return false }
    held[key] = offer
    return true
  }

  /// Whether a sender has another name for it, see `AcceptableName.onCards`.
  private static func hasOtherName(_ path: String) -> Bool {
    path.utf8.split(separator: UInt8(ascii: "/")).contains { component in
      let name = AcceptableName(Array(component))
      return name.onCards != name
    }
  }

  /// An offer has come: one of the same content that was refused has not failed.
  mutating func cameAgain(_ key: Key) { held[key] = nil }

  /// Takes those that have failed after all, in the order of their names.
  /// - Parameter sender: nil: all senders.
  mutating func takeAll(of sender: NodeID?) -> [Held] {
    let keys = held.keys.filter { sender == nil || $0.sender == sender }
    return keys.compactMap { held.removeValue(forKey: $0) }.sorted { $0.name < $1.name }
  }
}

extension OffersToRename<IncomingOffer>.Key {
  init(_ offer: IncomingOffer) {
    self.init(sender: offer.sender.id, identity: offer.identity, size: offer.size)
  }
}
