import BasicInterface
import Distributed
import Glibc
import Piconet
import PiconetActors

/// Takes a name, advertises it, waits for peers, and concatenates two texts for each that calls. Ends when the client
/// has left.
///
///     PICONET_INTERFACES=lo swift run BasicService     # in one terminal
///     PICONET_INTERFACES=lo swift run BasicClient      # in another one of the same machine
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
    try system.publish(Concatenator(actorSystem: system), at: Sample.path)
    print("Object published at \(Sample.path).")
    guard try await system.claim(Sample.name) == .owner else {
      throw RemoteCallError(.refused, detail: "the name is taken")
    }
    print("Name \(Sample.name) claimed.")
    try await node.advertise(Advertisement(names: [Sample.name], interfaces: [Concatenator.interface.name]))
    try await node.setAvailable(true)
    print("Name advertised. Waiting for somebody who joins.")
    let accepting = Task {
      for await invitation in node.invitations {
        print("\(printable(invitation.peer.name)) wants to join over \(invitation.peer.transport).")
        _ = try? await invitation.accept()
      }
    }
    defer { accepting.cancel() }
    for await change in node.session.membership {
      switch change {
      case .joined(let member): print("\(printable(member.name)) has joined.")
      case .left(let member, let error):
        print("\(printable(member.name)) has left: \(error.code).")
        system.release(Sample.name)
        return system.unpublish(Sample.path)
      default: break
      }
    }
  }
}
