import Piconet
import PiconetActors

/// Says what can be done about a call that failed.
func advice(forCall error: RemoteCallError) -> String {
  switch error.code {
  case .left, .notConnected: "The device has gone. " + (error.underlying?.description ?? "")
  case .restarted: "It was started anew: find its objects again."
  case .timedOut: "It has not answered in time. Whether it was called is not known."
  case .noSuchObject, .unknownInterface, .unknownMethod, .wrongVersion: "Its program has another version."
  case .tooManyCalls: "It is busy."
  // More codes may come.
  default: error.description
  }
}

/// Asks for a sign of life, for five seconds at most.
func isPresent(_ object: RemoteObjectID, _ system: PiconetActorSystem) async -> Bool {
  do throws(RemoteCallError) {
    try await system.ping(.object(object), within: .seconds(5))
    return true
  } catch {
    return false
  }
}

/// Shows when a device and the owner of a name come and go, until the system stops.
func watch(_ member: Member, name: String, _ system: PiconetActorSystem, _ show: (String) -> Void) async throws {
  for await change in try system.presence(of: .node(member.id), .owner(of: name), every: .seconds(10)) {
    switch change.presence {
    case .present: show("\(change.target) is there")
    case .absent(let error): show("\(change.target) is not there: \(error.code)")
    // More may come.
    @unknown default: break
    }
  }
}
