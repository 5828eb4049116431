import Piconet
import PiconetActors

/// Members that were let in here may call everything; those on another member's word what is said to be harmless.
func carefulConfiguration() -> ActorSystemConfiguration {
  var configuration = ActorSystemConfiguration()
  configuration.policy = .asking { call in
    call.caller.proven.introducedBy == nil || call.interface == "piconet.node"
  }
  return configuration
}

/// Calls, and says what came of it where it may not.
func tryToBrighten(lampOf member: Member, _ system: PiconetActorSystem) async -> String {
  do {
    return "it is \(try await brighten(lampOf: member, system))"
  } catch RemoteCallError.notAllowed {
    return "this device may not call it"
  } catch {
    return "\(error)"
  }
}
