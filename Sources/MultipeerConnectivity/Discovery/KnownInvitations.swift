import Piconet

/// The newest invitations of an advertiser, each with its answer.
struct KnownInvitations {
  private struct Key: Hashable {
    let inviter: PeerID
    let ticket: Ticket
  }

  static let limit = 256
  private var answers: [Key: InvitationAnswer] = [:]
  private var order: [Key] = []

  /// - Parameter inviter: the key that the inviter has proven; a ticket has no value for any other key.
  subscript(_ inviter: PeerID, _ ticket: Ticket) -> InvitationAnswer? {
    get { answers[Key(inviter: inviter, ticket: ticket)] }
    set {
      let key = Key(inviter: inviter, ticket: ticket)
      if answers[key] == nil, newValue != nil { order.append(key) }
      answers[key] = newValue
      if order.count > Self.limit { answers[order.removeFirst()] = nil }
    }
  }
}
