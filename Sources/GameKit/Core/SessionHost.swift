import Foundation
import Piconet

/// The one host of this process's sessions: made for the first of them, and gone with the last.
actor SessionHost {
  static let shared = SessionHost(interfaces: interfacesOfProcess)

  private let configuration: NodeHostConfiguration
  private weak var current: NodeHost?
  private var starting: Task<NodeHost, any Error>?

  /// - Parameter interfaces: those that are searched; none: all.
  init(interfaces: Set<String>) {
    // Keys are kept nowhere: a program's acceptance lets a peer into that session, and makes no device known.
    var configuration = NodeHostConfiguration()
    if !interfaces.isEmpty { configuration.interfaces = interfaces }
    self.configuration = configuration
  }

  /// The host's users keep it.
  func host() async throws -> NodeHost {
    if let current { return current }
    let task = starting ?? Task { [configuration] in try await NodeHost(configuration) }
    starting = task
    defer { starting = nil }
    let host = try await task.value
    current = host
    return host
  }

  /// Those in `PICONET_INTERFACES`.
  private static var interfacesOfProcess: Set<String> {
    let names = ProcessInfo.processInfo.environment["PICONET_INTERFACES"] ?? ""
    return Set(names.split { $0 == "," || $0 == " " }.map(String.init))
  }
}
