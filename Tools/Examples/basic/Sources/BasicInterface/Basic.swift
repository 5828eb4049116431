import Distributed
import Glibc
import Piconet
import PiconetActors

/// What service and client have in common: the protocol, and the table of its methods.
@Resolvable
public protocol Basic: RemoteObject where ActorSystem == PiconetActorSystem {
  distributed func concatenate(_ first: String, _ second: String) async throws -> String
}

extension Basic {
  public static var interface: RemoteInterface { basic }
}

private let basic = RemoteInterface(
  "org.example.basic", of: (any Basic).self,
  methods: [.method("concatenate", "first", "second") { try await $0.concatenate($1, $2) }])

public enum Sample {
  public static let name = "org.example.basic.sample"
  public static let path = "/sample"

  /// The session of the sample. Two take part in it: a third is told that it is full.
  public static func configuration(_ name: String, _ mode: SessionMode) -> NodeConfiguration {
    var configuration = NodeConfiguration(sessionID: "basic sample, port 25", name: name)
    configuration.mode = mode
    configuration.capacity = 2
    configuration.givePriorityToCalls()
    if let names = getenv("PICONET_INTERFACES") {
      configuration.interfaces = Set(String(cString: names).split(separator: ",").map(String.init))
    }
    return configuration
  }
}

/// What others have written could hold anything: without control characters it can't take over the terminal.
public func printable(_ text: String) -> String {
  String(
    String.UnicodeScalarView(
      text.unicodeScalars.filter { ![.control, .format].contains($0.properties.generalCategory) }))
}
