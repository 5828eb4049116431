/// A fact about an association's search for a link.
enum SearchFact {
  /// The link is gone. The side that dialled it begins at once.
  case linkLost(wasDialler: Bool)
  case dialFailed(DialTable.Dial, LinkFailure, at: String?)
  /// Our dial has led to another peer.
  case strangerAnswered(DialTable.Dial, at: String)
  /// Another incarnation of the peer has answered where this one was.
  case otherAnswered(over: TransportKind)
  /// A link that the search has opened is gone.
  case linkEnded(LinkID)
  /// The discovery table has learned something of the peer.
  case sighted
  /// The node is a member, or has another link: there may be a better one.
  case linked
  case timePassed
}
