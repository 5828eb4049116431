import Foundation
import Piconet
import Synchronization

/// The parts that the sessions, advertisers and browsers of one `MCPeerID` share: a host of Piconet. Its key is made at
/// each start, since programs of Multipeer Connectivity remember no device beyond a session.
///
/// Two `MCPeerID`s of one process are two devices to others, and to each other. Each node that was made here keeps its
/// host alive; the last node to end ends it.
actor LocalDevice {
  static let shared = LocalDevice()

  private struct Entry {
    weak var host: NodeHost?
    var starting: Task<NodeHost, any Error>?
  }

  private var entries: [UInt64: Entry] = [:]

  /// A node, and the host that it needs for as long as it runs.
  struct Presence: Sendable {
    let node: Node
    /// Nil for a node with its own key.
    let host: NodeHost?

    func stop() async { await node.stop() }
  }

  func start(_ configuration: NodeConfiguration, for peer: MCPeerID) async throws -> Presence {
    let host = try await host(of: peer.identifier)
    return Presence(node: try await host.node(configuration), host: host)
  }

  /// Starts a node that is available: others find it, or it finds others, from now on.
  func startAvailable(_ configuration: NodeConfiguration, for peer: MCPeerID) async throws -> Presence {
    let presence = try await start(configuration, for: peer)
    do {
      try await presence.node.setAvailable(true)
    } catch {
      await presence.stop()
      throw error
    }
    return presence
  }

  private func host(of identifier: UInt64) async throws -> NodeHost {
    if let host = entries[identifier]?.host { return host }
    if let starting = entries[identifier]?.starting { return try await starting.value }
    entries = entries.filter { $0.value.host != nil || $0.value.starting != nil }
    let task = Task { try await NodeHost(LocalDeviceSettings.current.host) }
    entries[identifier] = Entry(starting: task)
    do {
      let host = try await task.value
      entries[identifier] = Entry(host: host)
      return host
    } catch {
      entries[identifier] = nil
      throw error
    }
  }
}

/// Settings of this device, for everything that is started from now on: Apple's interface has none.
struct LocalDeviceSettings: Sendable {
  /// The network interfaces to use; nil: all.
  var interfaces: Set<String>?
  /// The transports, in order of preference; nil: all transports of Piconet.
  var transports: [TransportKind]?

  /// Reads the settings from the environment: `PICONET_INTERFACES` has names with commas between them.
  init(environment: [String: String]) {
    interfaces = environment["PICONET_INTERFACES"].map {
      Set($0.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) })
    }
  }

  private static let shared = Mutex(LocalDeviceSettings(environment: ProcessInfo.processInfo.environment))

  static var current: LocalDeviceSettings {
    get { shared.withLock { $0 } }
    set { shared.withLock { $0 = newValue } }
  }

  var isOnLoopback: Bool { interfaces == ["lo"] }

  var host: NodeHostConfiguration {
    var host = NodeHostConfiguration()
    host.interfaces = interfaces
    return host
  }

  /// Applies them to the configuration of a node on this device, on the shared host or on its own.
  func apply(to configuration: inout NodeConfiguration, isAlone: Bool = false) {
    if isAlone { configuration.interfaces = interfaces }
    if let transports { configuration.transports = transports }
    // No other device can connect over loopback.
    if isOnLoopback { configuration.listen = "127.0.0.1:0" }
  }
}
