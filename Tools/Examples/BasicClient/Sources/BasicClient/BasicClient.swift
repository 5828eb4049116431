import Glibc
import Piconet
import PiconetActors

/// Finds the service by its name, joins it, asks what it has, calls it, and checks its presence.
///
///     PICONET_INTERFACES=lo swift run BasicService     # in one terminal, in ../BasicService
///     PICONET_INTERFACES=lo swift run BasicClient      # in another one of the same machine, in this directory
///
/// Between two machines leave the variable out.
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
    let events = system.events
    let listening = Task { await Sample.listen(events, node) }
    try await node.setAvailable(true)
    print("Looking for \(Sample.name).")
    for await case .found(let peer, let name) in node.advertisers(ofNamesBeginning: Sample.name) {
      print("Found \(name) at \(printable(peer.name)).")
      let member = try await node.join(peer, Sample.options)
      print("Joined \(printable(member.name)) over \(member.proven.transport).")
      for object in try await system.objects(of: member) {
        for method in object.interface.methods {
          let parameters = method.parameters.map { "\($0.name): \($0.type)" }.joined(separator: ", ")
          print("\(object.path) has \(object.interface.name).\(method.name)(\(parameters)) -> \(method.result)")
        }
      }
      let result = try await system.object($Basic.self, at: Sample.path, of: member)
        .concatenate("Code ", "Monkies!!!!!!!")
      let words = result == "Code Monkies!!!!!!!" ? "as it should" : "WRONG"
      print("\(Sample.path).concatenate returned \"\(printable(result))\", \(words).")
      // "Check presence", by the name.
      try await system.ping(.owner(of: name, path: Sample.path), within: .seconds(5))
      print("\(name) is present.")
      await member.disconnect()
      await listening.value
      do throws(RemoteCallError) {
        try await system.ping(.owner(of: name, path: Sample.path), within: .seconds(5))
        print("\(name) is still present: WRONG")
      } catch {
        print("\(name) is absent: \(error.code).")
      }
      return
    }
  }
}
