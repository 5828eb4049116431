import Distributed
import Glibc
import Piconet
import PiconetActors

/// Takes a name, advertises it, waits for a client, and concatenates two texts for it. Ends when the client has left.
///
///     PICONET_INTERFACES=lo swift run BasicService     # in one terminal, in this directory
///     PICONET_INTERFACES=lo swift run BasicClient      # in another one of the same machine, in ../BasicClient
///
/// Between two machines leave the variable out.
distributed actor Concatenator: Basic {
  typealias ActorSystem = PiconetActorSystem

  distributed func concatenate(_ first: String, _ second: String) -> String {
    print("concatenate(\"\(printable(first))\", \"\(printable(second))\")")
    return first + second
  }
}

@main struct BasicService {
  static func main() async {
    do {
      try await Node.run(Sample.configuration("Basic service", .server)) { node in
        print("Node started.")
        try await PiconetActorSystem.run(on: node) { system in try await serve(node, system) }
      }
      print("Basic service ends in good order.")
    } catch {
      print("BasicService: \(error)")
      exit(1)
    }
  }

  static func serve(_ node: Node, _ system: PiconetActorSystem) async throws {
    let events = system.events
    let listening = Task { await Sample.listen(events, node) }
    try system.publish(Concatenator(actorSystem: system), at: Sample.path)
    print("Object published at \(Sample.path).")
    // As AllJoyn's sample asks for it: with "replace existing" and "do not queue".
    guard try await system.claim(Sample.name, .replacesExisting) == .owner else {
      throw RemoteCallError(.refused, detail: "the name is taken")
    }
    print("Name \(Sample.name) claimed.")
    try await node.advertise(system.advertisement(names: [Sample.name]))
    try await node.setAvailable(true)
    print("Name advertised. Waiting for somebody who joins.")
    let accepting = Task {
      for await invitation in node.invitations {
        let (name, transport) = (printable(invitation.peer.name), invitation.peer.transport)
        do throws(PiconetError) {
          try await invitation.accept(joining: Sample.options)
          print("\(name) wanted to join over \(transport), and may.")
        } catch {
          print("\(name) wanted to join over \(transport), and may not: \(error.code).")
        }
      }
    }
    defer { accepting.cancel() }
    await listening.value
    system.release(Sample.name)
    system.unpublish(Sample.path)
    try await node.setAvailable(false)
    print("Name released, object withdrawn, nothing advertised.")
  }
}
