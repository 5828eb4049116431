import Piconet
import PiconetCalls

/// The entries that a node shows to all nodes that can see it, before any of them connects: in its `discoveryInfo`,
/// under the keys `names`, `interfaces` and `model`. With the node's name this is what AllJoyn calls an announcement.
/// `PiconetActorSystem.objects(of:under:)` tells its members exactly what its objects have.
public struct Advertisement: Sendable, Hashable {
  /// Names such as `org.example.lamp`.
  public var names: [String]
  /// The interfaces of objects that can be called there, with their versions.
  public var interfaces: [AdvertisedInterface]
  /// The kind of device or program, for people; nil: not told.
  public var model: String?

  /// - Parameters:
  ///   - names: each in the form of a claimed name.
  ///   - interfaces: those of objects; a string literal is the name of one in version 1.
  ///   - model: the kind of device or program, for people.
  public init(names: [String] = [], interfaces: [AdvertisedInterface] = [], model: String? = nil) {
    self.names = names
    self.interfaces = interfaces
    self.model = model
  }

  init(_ info: [String: String]) {
    func list(_ key: String) -> [String] { (info[key] ?? "").split(separator: ",").map(String.init) }
    self.init(
      names: list("names").filter(Self.isPlainName),
      interfaces: list("interfaces").compactMap { AdvertisedInterface(text: $0) },
      model: info["model"])
  }
}

extension PiconetActorSystem {
  /// Returns the advertisement of this system: the interfaces of its published objects, and the `model` of its
  /// configuration's `about`. Give it to `Node.advertise`, and again when other objects are published.
  /// - Parameter names: names to advertise with it; they need not be claimed.
  public func advertisement(names: [String] = []) -> Advertisement {
    let interfaces = Set(
      objects.descriptions(under: "/").map { AdvertisedInterface($0.interface.name, version: $0.interface.version) })
    return Advertisement(
      names: names,
      interfaces: interfaces.filter { $0.name != nodeInterface.name }.sorted { $0.description < $1.description },
      model: configuration.about["model"])
  }
}

extension Peer {
  /// The peer's advertisement: its own words, none of them proven.
  public var advertisement: Advertisement { Advertisement(info) }
}

extension Node {
  /// Advertises this in place of the previous advertisement, while the node is available.
  /// - Throws: `invalidArgument` if a name is not valid, or if all together do not fit: the pairs of `discoveryInfo`
  ///   have 255 bytes each and 400 together; `shuttingDown`.
  public func advertise(_ advertisement: Advertisement) async throws(PiconetError) {
    let wrong =
      advertisement.names.first { !Advertisement.isPlainName($0) }
      ?? advertisement.interfaces.first { !$0.isValid }?.description
    if let wrong { throw PiconetError(.invalidArgument, blame: .us, detail: "'\(wrong)' is no name") }
    var info = discoveryInfo
    let interfaces = advertisement.interfaces.map(\.description)
    for (key, list) in [("names", advertisement.names), ("interfaces", interfaces)] {
      info[key] = list.isEmpty ? nil : list.joined(separator: ",")
    }
    info["model"] = advertisement.model
    try await setDiscoveryInfo(info)
  }

  /// Returns the peers that advertise a name beginning with `prefix`, as they come in sight and go out of it. Ends with
  /// the node.
  /// - Parameters:
  ///   - prefix: the beginning of the name; empty: any name.
  ///   - transports: only peers that can be reached by one of these; nil: by any.
  public func advertisers(
    ofNamesBeginning prefix: String, over transports: Set<TransportKind>? = nil
  ) -> AsyncStream<AdvertiserChange> {
    advertisers(over: transports) { $0.names.filter { $0.hasPrefix(prefix) } }
  }

  /// Returns the peers that advertise an interface, as they come in sight and go out of it. Ends with the node.
  /// - Parameters:
  ///   - interface: its full name; a change has it with the advertised version, such as `org.example.lamp:2`.
  ///   - version: only peers that serve this version or a later one. Default 1: any.
  ///   - transports: only peers that can be reached by one of these; nil: by any.
  public func advertisers(
    ofInterface interface: String, from version: Int = 1, over transports: Set<TransportKind>? = nil
  ) -> AsyncStream<AdvertiserChange> {
    let wanted = AdvertisedInterface(interface, version: version)
    return advertisers(over: transports) { $0.interfaces.filter { $0.serves(wanted) }.map(\.description) }
  }

  private func advertisers(
    over transports: Set<TransportKind>?, _ matching: @escaping @Sendable (Advertisement) -> [String]
  ) -> AsyncStream<AdvertiserChange> {
    let lists = peers
    // At most the changes of all peers in sight, once found and once lost, wait; a slower reader misses the oldest.
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

/// A change of the peers that advertise the wanted name or interface.
@nonexhaustive
public enum AdvertiserChange: Sendable {
  /// The peer is in sight. To invite it, use `Node.invite`, over chosen transports if needed.
  case found(Peer, name: String)
  /// The peer is no longer in sight, or no longer has this name.
  case lost(Peer, name: String)
}
