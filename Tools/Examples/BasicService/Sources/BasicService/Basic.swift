import Distributed
import Glibc
import Piconet
import PiconetActors

// What service and client have in common: BasicClient has the same file.

/// What can be called.
@Resolvable
protocol Basic: RemoteObject where ActorSystem == PiconetActorSystem {
  distributed func concatenate(_ first: String, _ second: String) async throws -> String
}

extension Basic {
  static var interface: RemoteInterface { basic }
}

private let basic = RemoteInterface(
  "org.example.basic", of: (any Basic).self,
  methods: [.method("concatenate", "first", "second") { try await $0.concatenate($1, $2) }])

enum Sample {
  /// The name that the service has, and by which the client finds it.
  static let name = "org.example.basic.sample"
  /// Where its object is.
  static let path = "/sample"
  /// What AllJoyn's sample binds its session port with: messages, between two, however far away, over any transport.
  static let options = SessionOptions(.messages, isMultipoint: false)

  static func configuration(_ name: String, _ mode: SessionMode) -> NodeConfiguration {
    var configuration = NodeConfiguration(sessionID: "basic sample, port 25", name: name)
    configuration.mode = mode
    configuration.apply(options)
    configuration.givePriorityToCalls()
    if let names = getenv("PICONET_INTERFACES") {
      configuration.interfaces = Set(String(cString: names).split(separator: ",").map(String.init))
    }
    return configuration
  }

  /// Prints what happens to names, and who comes and goes, until the other side has left.
  static func listen(_ events: AsyncStream<ActorSystemEvent>, _ node: Node) async {
    for await event in events {
      switch event {
      case .found(let member, _): print("\(printable(member.name)) has joined.")
      case .lost(let member, let error):
        let reason = error.underlying.map { $0.sessionLoss(at: node.id) }
        return print("\(printable(member.name)) has left: \(reason.map { "\($0)" } ?? "\(error.code)").")
      case .ownerChanged(let name, _, let owner):
        let words = owner.map { $0 == node.id ? "this program" : printable(node.session[$0]?.name ?? "another") }
        print("The owner of \(name) is now \(words ?? "nobody").")
      // What else there is, such as the end of the actor system.
      default: break
      }
    }
  }
}

/// What others have written could hold anything: without control characters it can't take over the terminal.
func printable(_ text: String) -> String {
  String(
    String.UnicodeScalarView(
      text.unicodeScalars.filter { ![.control, .format].contains($0.properties.generalCategory) }))
}
