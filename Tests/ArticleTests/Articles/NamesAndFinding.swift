import Piconet
import PiconetActors

/// Takes the name, and shows it to all who can see the node. False: another member has it.
func beCeiling(_ system: PiconetActorSystem) async throws -> Bool {
  guard try await system.claim("org.example.ceiling", .allowsReplacement) == .owner else { return false }
  try await system.node.advertise(system.advertisement(names: ["org.example.ceiling"]))
  try await system.node.setAvailable(true)
  return true
}

/// Joins the first device in sight that has lamps of this version or a later one.
func joinLamp(_ node: Node, from version: Int) async throws -> Member? {
  for await case .found(let peer, _) in node.advertisers(ofInterface: "org.example.lamp", from: version) {
    return try await node.join(peer, SessionOptions())
  }
  return nil
}

/// Lets in whoever wants what the session is for, until the node stops.
func letIn(_ node: Node) async {
  for await invitation in node.invitations {
    do throws(PiconetError) {
      try await invitation.accept(joining: SessionOptions())
    } catch {
      print("Somebody wanted to join, and has not: \(error.code)")
    }
  }
}

/// Says who has a name, again and again.
func followOwner(of name: String, _ system: PiconetActorSystem, _ show: (String) -> Void) async {
  for await case .ownerChanged(name, _, let owner) in system.events {
    show(owner == nil ? "nobody has it" : owner == system.node.id ? "we have it" : "another has it")
  }
}
