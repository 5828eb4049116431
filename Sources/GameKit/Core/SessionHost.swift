import Foundation
import Piconet

/// The single host of this process's sessions: made for the first of them, and gone with the last.
actor SessionHost {
  static let shared = SessionHost(interfaces: interfacesOfProcess)

  private let configuration: NodeHostConfiguration
  private weak var current: NodeHost?
  private var starting: Task<NodeHost, any Error>?

  /// - Parameter interfaces: the network interfaces to search; empty: all.
  init(interfaces: Set<String>) {
    // Keys are not stored: a program's acceptance lets a peer into that session, and makes no device known.
    var configuration = NodeHostConfiguration()
    if !interfaces.isEmpty { configuration.interfaces = interfaces }
    self.configuration = configuration
  }

  /// Returns the host; its users keep it alive.
  func host() async throws -> NodeHost {
    if let current { return current }
    let task = starting ?? Task { [configuration] in try await NodeHost(configuration) }
    starting = task
    defer { starting = nil }
    let host = try await task.value
    current = host
    return host
  }

  /// The interfaces in `PICONET_INTERFACES`.
  private static var interfacesOfProcess: Set<String> {
    let names = ProcessInfo.processInfo.environment["PICONET_INTERFACES"] ?? ""
    return Set(names.split { $0 == "," || $0 == " " }.map(String.init))
  }
}
