import Piconet
import PiconetCalls

/// Names and interfaces that a node shows to all who can see it, before any of them connects: in its `discoveryInfo`,
/// under the keys `names` and `interfaces`.
public struct Advertisement: Sendable, Hashable {
  /// Such as `org.example.lamp`.
  public var names: [String]
  /// Of objects that can be called there.
  public var interfaces: [String]

  /// - Parameters:
  ///   - names: each as a name that is claimed.
  ///   - interfaces: names of interfaces.
  public init(names: [String] = [], interfaces: [String] = []) {
    self.names = names
    self.interfaces = interfaces
  }

  init(_ info: [String: String]) {
    func list(_ key: String) -> [String] {
      (info[key] ?? "").split(separator: ",").map(String.init).filter(CallLimits.isName)
    }
    self.init(names: list("names"), interfaces: list("interfaces"))
  }
}

extension Peer {
  /// What the peer advertises: its own words, of which nothing is proven.
  public var advertisement: Advertisement { Advertisement(info) }
}

extension Node {
  /// Advertises these names and interfaces, in place of those before, while the node is available.
  /// - Throws: `invalidArgument` if one is no name, or all together do not fit: the pairs of `discoveryInfo` have 255
  ///   bytes each and 400 together; `shuttingDown`.
  public func advertise(_ advertisement: Advertisement) async throws(PiconetError) {
    if let wrong = (advertisement.names + advertisement.interfaces).first(where: { !CallLimits.isName($0) }) {
      throw PiconetError(.invalidArgument, blame: .us, detail: "'\(wrong)' is no name")
    }
    var info = discoveryInfo
    for (key, list) in [("names", advertisement.names), ("interfaces", advertisement.interfaces)] {
      info[key] = list.isEmpty ? nil : list.joined(separator: ",")
    }
    try await setDiscoveryInfo(info)
  }

  /// Peers that advertise a name beginning with `prefix`, as they come in sight and go out of it. Ends with the node.
  /// - Parameters:
  ///   - prefix: of the name; empty: any name.
  ///   - transports: only peers that can be reached by one of these; nil: by any.
  public func advertisers(
    ofNamesBeginning prefix: String, over transports: Set<TransportKind>? = nil
  ) -> AsyncStream<AdvertiserChange> {
    advertisers(over: transports) { $0.names.filter { $0.hasPrefix(prefix) } }
  }

  /// Peers that advertise an interface, as they come in sight and go out of it. Ends with the node.
  /// - Parameters:
  ///   - interface: its whole name.
  ///   - transports: only peers that can be reached by one of these; nil: by any.
  public func advertisers(
    ofInterface interface: String, over transports: Set<TransportKind>? = nil
  ) -> AsyncStream<AdvertiserChange> {
    advertisers(over: transports) { $0.interfaces.filter { $0 == interface } }
  }

  private func advertisers(
    over transports: Set<TransportKind>?, _ matching: @escaping @Sendable (Advertisement) -> [String]
  ) -> AsyncStream<AdvertiserChange> {
    let lists = peers
    // At most what is in sight, once found and once lost, waits; a reader that is slower than that misses what is old.
    return AsyncStream(bufferingPolicy: .bufferingNewest(4_096)) { continuation in
      let following = Task {
        var known: [NodeID: (peer: Peer, names: [String])] = [:]
        for await list in lists {
          var present: [NodeID: (peer: Peer, names: [String])] = [:]
          for peer in list {
            let isReachable = transports.map { kinds in peer.addresses.contains { kinds.contains($0.kind) } } ?? true
            if isReachable { present[peer.id] = (peer, matching(peer.advertisement)) }
          }
          for (id, former) in known {
            for name in former.names where present[id]?.names.contains(name) != true {
              continuation.yield(.lost(former.peer, name: name))
            }
          }
          for peer in list {
            for name in present[peer.id]?.names ?? [] where known[peer.id]?.names.contains(name) != true {
              continuation.yield(.found(peer, name: name))
            }
          }
          known = present
        }
        continuation.finish()
      }
      continuation.onTermination = { _ in following.cancel() }
    }
  }
}

/// A peer that advertises what was looked for.
public enum AdvertiserChange: Sendable {
  /// In sight. To be invited with `Node.invite`, over chosen transports if need be.
  case found(Peer, name: String)
  /// Not in sight any more, or not with this name.
  case lost(Peer, name: String)
}
