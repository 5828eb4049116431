import PiconetEngine
import PiconetTLS
import PiconetWire

/// Applies the trust policy, with the known peers of a file or without any. Confined to the loop.
final class KnownPeersJudge: TrustJudge {
  /// The standing of a key with this device, in the node's program.
  struct Standing: Sendable, Hashable {
    var known: KnownPeer?
    var rights: Set<PeerRight.Action> = []
  }

  private let policy: TrustPolicy
  private let program: String
  private let ownPeer: PeerID
  private let visibility: NodeVisibility
  private let table: KnownPeersTable
  private var forgiveness: ForgivenessFile.Reader?
  private var advertised = AdvertisedNames()
  /// The names under which invitations under way look for keys, each as often as it is looked for.
  private var sought: [PeerID: [Sought]] = [:]

  /// The names with which an invitation looks for a key.
  struct Sought: Hashable {
    let name: String
    /// The other names under which it was advertised when it was chosen.
    let otherNames: [String]
  }

  init(
    policy: TrustPolicy, program: String, ownPeer: PeerID, visibility: NodeVisibility = .everybody,
    table: KnownPeersTable
  ) {
    self.policy = policy
    self.program = program
    self.ownPeer = ownPeer
    self.visibility = visibility
    self.table = table
    forgiveness = table.forgiveness?.reader()
  }

  func takeForgiven() -> [String] { forgiveness?.take() ?? [] }

  func admits(_ peer: PeerID) -> Bool {
    if visibility == .everybody || peer == ownPeer { return true }
    guard let known = try? table.current() else { return false }
    return known[peer] != nil && !known.isBlocked(peer)
  }

  /// Returns whether a node of this name may be shown to a person, who may want to trust it, whatever the policy says
  /// of it now. It is not blocked, and its name neither belongs to another key nor looks like another key's. It is
  /// judged when it is connected.
  func mayBeShown(_ node: NodeID, name: String) -> Bool {
    if node.peer == ownPeer { return true }
    guard let known = try? table.current(), !known.isBlocked(node.peer) else { return false }
    return known[node.peer] != nil || known.lookalikes(of: name, but: node.peer).isEmpty
  }

  /// The keys that a veiled device in sight may have, with their names here: those of other programs of this device,
  /// and of known peers.
  var veiled: [(PeerID, String)] {
    let entries = (try? table.current())?.entries ?? []
    return [(ownPeer, "this device")] + entries.map { ($0.id, $0.name) }
  }

  func judge(_ node: NodeID, name: String, isDialled: Bool) -> TrustJudgement {
    // Another program of this device has this device's key.
    if node.peer == ownPeer { return .known }
    let known: KnownPeers
    do throws(StateFailure) {
      known = try table.current()
    } catch {
      return .refused(.identity, detail: "the known peers can't be read: \(error)")
    }
    let verdict = policy.judge(
      peer: node.peer, name: name, program: program, isDialled: isDialled, knownPeers: known)
    switch verdict {
    case .known: return .known
    case .new(let new):
      if isDialled, known[node.peer] == nil, let advertised = contradicted(node.peer, name) {
        return .refused(
          .identity, detail: "it was found as '\(advertised)', and calls itself '\(name)' once it is connected",
          told: "it calls itself otherwise than it is advertised")
      }
      return new == .accepted ? .new : .ask
    case .refused(.blocked): return .refused(.identity, detail: "\(TrustRefusal.blocked)")
    case .refused(let refusal): return .refused(.identity, detail: "\(refusal)", told: "\(refusal)")
    case .keyChanged(let change):
      return .refused(.identity, detail: "\(change)", told: "another device was remembered under this name there")
    }
  }

  /// Notes that a node is in sight, under these names.
  func saw(_ node: NodeID, as names: Set<String>) { advertised.seen(node, as: names, at: .now) }

  /// Notes that the node is no longer in sight.
  func lost(_ node: NodeID) { advertised.lost(node, at: .now) }

  /// Returns the names under which a key was advertised lately; empty if it was not.
  func names(of peer: PeerID) -> Set<String> { advertised.names(of: peer, at: .now) }

  /// Notes that an invitation looks for the key under this name. From now on a stranger with the key that this node
  /// dials must give this name. That it was advertised under its own name as well does not make it the intended peer.
  func seeks(_ peer: PeerID, as wanted: Sought) { sought[peer, default: []].append(wanted) }

  /// Notes that this invitation has ended.
  func seeksNoMore(_ peer: PeerID, as wanted: Sought) {
    guard var left = sought[peer], let index = left.firstIndex(of: wanted) else { return }
    left.remove(at: index)
    sought[peer] = left.isEmpty ? nil : left
  }

  /// Returns a name under which the key is looked for, or else was advertised, if there is one and none of them is
  /// `name`.
  func contradicted(_ peer: PeerID, _ name: String) -> String? {
    let sought = sought[peer] ?? []
    let wanted = Set(sought.map(\.name))
    // The owner has changed a name that is no longer advertised, and may have a new one; but not a name that it had
    // when it was chosen under another.
    let names =
      wanted.isDisjoint(with: advertised.currentNames(of: peer))
      ? names(of: peer).subtracting(sought.flatMap(\.otherNames)).union(wanted) : wanted
    return names.contains { AdvertisedNames.isName(name, advertisedAs: $0) } ? nil : names.min()
  }

  /// Returns what the table says about the key. A file that can't be read vouches for no key.
  func standing(of peer: PeerID) -> Standing {
    if peer == ownPeer { return Standing(rights: Set(PeerRight.Action.allCases)) }
    let peers = try? table.current()
    guard peers?.isBlocked(peer) != true else { return Standing(known: peers?[peer]) }
    let known = peers?[peer]
    if case .pinned(let peers) = policy {
      return Standing(known: known, rights: peers.contains(peer) ? Set(PeerRight.Action.allCases) : [])
    }
    return Standing(known: known, rights: Set(PeerRight.Action.allCases.filter { known?.may($0, in: program) == true }))
  }
}
