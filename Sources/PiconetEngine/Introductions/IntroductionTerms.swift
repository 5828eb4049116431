/// What decides about introduced nodes besides what is known of them. Lent for one look.
struct IntroductionTerms {
  let attempts: InvitationAttempts
  let ways: Ways
  let surroundings: Surroundings
  /// How an invitation of an introduced node ends if there is no place for it; nil if there is one.
  let full: Ending?
  let transports: [TransportKind]
}
