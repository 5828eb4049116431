import BasicInterface
import Glibc
import Piconet
import PiconetActors

/// Finds the service by its name, joins it, asks what it has, calls it, and checks whether it is present. Run it as it
/// says in BasicService.swift.
@main struct BasicClient {
  static func main() async {
    do {
      try await Node.run(Sample.configuration("Basic client", .client)) { node in
        try await PiconetActorSystem.run(on: node) { system in try await call(node, system) }
      }
      print("Basic client ends in good order.")
    } catch {
      print("BasicClient: \(error)")
      exit(1)
    }
  }

  static func call(_ node: Node, _ system: PiconetActorSystem) async throws {
    try await node.setAvailable(true)
    for await case .found(let peer, let name) in node.advertisers(ofNamesBeginning: Sample.name) {
      print("Found \(name) at \(printable(peer.name)).")
      let member = try await node.invite(peer)
      print("Joined \(printable(member.name)) over \(member.proven.transport).")
      let departures = Task {
        for await case .left(let member, let error) in node.session.membership {
          print("\(printable(member.name)) has left: \(error.code).")
          break
        }
      }
      for object in try await system.objects(of: member) {
        for method in object.interface.methods {
          let parameters = method.parameters.map { "\($0.name): \($0.type)" }.joined(separator: ", ")
          print("\(object.path) has \(object.interface.name).\(method.name)(\(parameters)) -> \(method.result)")
        }
      }
      print("The owner of \(name) is \(system.owner(of: name) == member.id ? "the service" : "somebody else").")
      let result = try await system.object($Basic.self, at: Sample.path, of: member)
        .concatenate("Code ", "Monkies!!!!!!!")
      print(
        "\(Sample.path).concatenate returned \"\(printable(result))\", \(result == "Code Monkies!!!!!!!" ? "as it should" : "WRONG")."
      )
      _ = try await system.ping(member, within: .seconds(5))
      print("The service is present.")
      await member.disconnect()
      await departures.value
      return
    }
  }
}
