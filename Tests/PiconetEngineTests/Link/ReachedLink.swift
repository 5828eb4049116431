import PiconetWire

@testable import PiconetEngine

/// A link that has reached this phase by the steps that lead to it.
func link(
  reached phase: Link.Phase, _ hello: Hello = Hello(incarnation: Incarnation(rawValue: 1), name: "", sessionID: ""),
  from far: UInt8 = 1, at now: Instant, _ configuration: EngineConfiguration
) -> Link {
  let opening = LinkOpening(dial: nil, peer: peer(far), traits: someTraits)
  let link = Link(id: LinkID(rawValue: 1), opening: opening, at: now, configuration, DeadlineWatch())
  if phase == .awaitingHello { return link }
  _ = link.received(hello, at: node(9), hello.sessionID)
  link.awaitTrust()
  if phase == .awaitingTrust { return link }
  link.judged(.known)
  if phase == .ready { return link }
  let association = Association(
    id: AssociationID(high: 1, low: 2), node: node(far), of: node(9), on: link, hello, configuration, DeadlineWatch(),
    at: now)
  if phase == .resuming {
    let turn = Turn(node(9), seed: 1, InvitationBudgets(openQuestions: 1), DeadlineWatch())
    link.askToResume(association, turn)
  } else {
    link.activate(association)
  }
  return link
}
