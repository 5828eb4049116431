/// What decides about introduced nodes besides what is known of them. Lent for one look.
struct IntroductionTerms {
  let attempts: InvitationAttempts
  let ways: Ways
  let surroundings: Surroundings
  let admission: Admission
  let transports: [TransportKind]
}
