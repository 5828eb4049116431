import Piconet
import PiconetTerminal
import Synchronization

/// Looks for the peers to send to.
final class PeerSearch: Sendable {
  /// After the first sighting others get this long to be seen, too, before "the only one" and "all" mean anything.
  static let settleTime = Duration.milliseconds(700)
  /// How long to wait for a second peer with the same name: answers to one question come within 120 ms (RFC 6762,
  /// section 6).
  static let namesakeTime = Duration.milliseconds(130)

  private struct State {
    /// In the order in which they came into sight.
    var order: [NodeID] = []
    var told: Set<NodeID> = []
    var claimed: Set<NodeID> = []
    /// What has been said, and is said only once, however many peers are looked for.
    var said: Set<String> = []
    var isQuiet = false
    /// Nodes that relays have introduced, by their keys and relays. Bounded by the engine, except for those that were
    /// sent to.
    var introduced: [ByRelay: Introduced] = [:]
    var nextReader = 0
    /// Notified when that changes.
    var readers: [Int: AsyncStream<Void>.Continuation] = [:]
  }

  /// A device, and the relay that introduces it.
  private struct ByRelay: Hashable {
    let peer: PeerID
    let relay: NodeID
  }

  private struct Introduced {
    let number: UInt64
    let peer: Peer
  }

  /// Which of the peers in sight are looked for.
  enum Sought: Sendable {
    /// Those that things are sent to.
    case receivers
    /// Those that pass on what is sent to others.
    case relays
  }

  private let node: Node
  private let console: Console
  private let session: String
  private let naming: PeerNaming
  private let seeks: Sought
  private let state = Mutex(State())

  init(node: Node, console: Console, session: String, naming: PeerNaming, seeks: Sought = .receivers) {
    self.naming = naming
    self.seeks = seeks
    self.node = node
    self.console = console
    self.session = session
  }

  /// The peers in sight, in the order in which they came; reports new ones.
  @discardableResult
  func peersNow() -> [Peer] { note(node.currentPeers) }

  private func note(_ inSight: [Peer]) -> [Peer] {
    let keys = Set(inSight.map(\.id.peer))
    // Of several runs of one device the last is meant.
    let told = state.withLock { state in
      Dictionary(
        state.introduced.values.filter { !keys.contains($0.peer.id.peer) }.map { ($0.peer.id.peer, $0) },
        uniquingKeysWith: { $0.number > $1.number ? $0 : $1 }
      ).values.map(\.peer)
    }
    let peers = inSight + told.sorted { ($0.name, $0.id) < ($1.name, $1.id) }
    let (ordered, new, isQuiet) = state.withLock { state -> ([Peer], [Peer], Bool) in
      let present = Set(peers.map(\.id))
      state.order.removeAll { !present.contains($0) }
      let known = Set(state.order)
      state.order += peers.map(\.id).filter { !known.contains($0) }
      let byID = Dictionary(peers.map { ($0.id, $0) }) { first, _ in first }
      let new = peers.filter { state.told.count < CommandLineLimits.sightings && state.told.insert($0.id).inserted }
      return (state.order.compactMap { byID[$0] }, new, state.isQuiet)
    }
    for peer in new where seeks == .receivers && isSought(peer) {
      let sighted = SightedPeer(peer)
      console.tell(
        .found(
          ProgramEvent.Found(
            peer: sighted.fingerprint, name: peer.name, session: session, address: sighted.address,
            transports: peer.transports.map { "\($0)" })))
      if isQuiet { continue }
      console.note("found \(describe(peer)) \(places(peer))", detail: 1)
    }
    return ordered
  }

  /// Returns, of several peers that may be meant, those that claim the wanted role; if none does, all of them. Any
  /// device can claim anything about another, so the claim hides no peer.
  func preferred(_ peers: [Peer]) -> [Peer] {
    let fitting = peers.filter(isSought)
    return fitting.isEmpty ? peers : fitting
  }

  /// Whether it says that it is what is looked for.
  func isSought(_ peer: Peer) -> Bool { RelayMark.isRelay(peer) == (seeks == .relays) }

  /// Waits until `choose` returns something; nil when the time is up or the task is cancelled.
  func wait<Choice: Sendable>(
    atMost limit: Duration, _ choose: @escaping @Sendable ([Peer]) -> Choice?
  ) async -> Choice? {
    await limited(to: limit) { [self] in
      let (changes, end) = changes()
      defer { end() }
      for await _ in changes {
        if let choice = choose(peersNow()) { return choice }
      }
      return nil
    }
  }

  /// Calls `body` with each list of peers until the task is cancelled.
  func follow(_ body: @Sendable ([Peer]) -> Void) async {
    let (changes, end) = changes()
    defer { end() }
    for await _ in changes { body(peersNow()) }
  }

  /// Signals, from now on, that there is another list to look at.
  /// - Returns: the signals, and what ends them.
  private func changes() -> (AsyncStream<Void>, end: @Sendable () -> Void) {
    let (changes, change) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state in
      state.nextReader += 1
      state.readers[state.nextReader] = change
      return state.nextReader
    }
    let following = Task { [node] in
      for await _ in node.peers { change.yield() }
      change.finish()
    }
    let end: @Sendable () -> Void = { [self] in
      following.cancel()
      _ = state.withLock { $0.readers.removeValue(forKey: number) }
      change.finish()
    }
    return (changes, end)
  }

  // MARK: Introductions by relays

  /// Treats nodes that relays introduce as peers in sight, until the task is cancelled.
  func takeIntroductions() async {
    await withDiscardingTaskGroup { group in
      for await introduction in node.session.introductions {
        let (key, introduced) = (
          ByRelay(peer: introduction.peer.peer, relay: introduction.introducer.id),
          Introduced(number: introduction.id, peer: introduction.asPeer)
        )
        change { $0[key] = introduced }
        group.addTask {
          // Nil also if it is a member now, and so still there. The relay introduces those it still has again.
          guard await introduction.ended() != nil else { return }
          self.change { if $0[key]?.number == introduced.number { $0[key] = nil } }
        }
      }
      group.cancelAll()
    }
  }

  /// Forgets the nodes that this relay has introduced: the relay is gone.
  func relayIsGone(_ relay: NodeID) {
    change { introduced in introduced = introduced.filter { $0.key.relay != relay } }
  }

  private func change(_ body: (inout [ByRelay: Introduced]) -> Void) {
    let readers = state.withLock { state in
      body(&state.introduced)
      return Array(state.readers.values)
    }
    for reader in readers { reader.yield() }
  }

  /// Claims the node; false if it was claimed before: `--to all --to Kitchen` sends to the kitchen only once.
  func claim(_ node: NodeID) -> Bool { state.withLock { $0.claimed.insert(node).inserted } }

  /// Sets whether new peers go unmentioned; events are still written.
  func setQuiet(_ isQuiet: Bool) { state.withLock { $0.isQuiet = isQuiet } }

  /// Whether this has not been said before: several peers that are looked for at once may be missing for the same
  /// reason.
  func isFirst(_ words: String) -> Bool { state.withLock { $0.said.insert(words).inserted } }

  /// The names by which peers in sight that are looked for can be meant: a stranger's own only if it looks like no
  /// known peer's.
  func names() -> [String] {
    var seen: Set<String> = []
    return peersNow().filter {
      isSought($0) && !isBlocked($0) && naming.imitated($0.id.peer, calledItself: $0.name) == nil
    }
    .map { naming.name($0.id.peer, calledItself: $0.name) }.filter { seen.insert($0).inserted }
  }

  /// `Living room (9f86d081884c)`, safe to show.
  func describe(_ peer: Peer) -> String { console.describe(peer, PeersShown([peer], naming)) }

  /// Whether the person has blocked its key.
  func isBlocked(_ peer: Peer) -> Bool { naming.known.isBlocked(peer.id.peer) }

  /// Why nothing goes to any of these keys; nil unless the person has blocked them all.
  func blockade(_ keys: Set<PeerID>) -> String? { naming.blockade(keys) }

  /// The peers as a list to pick from shows them.
  func rows(_ peers: [Peer]) -> [PeerPicker.Peer] {
    let shown = PeersShown(peers, naming)
    return peers.map { row($0, shown) }
  }

  private func row(_ peer: Peer, _ shown: PeersShown) -> PeerPicker.Peer {
    let (key, name) = (peer.id.peer, peer.name)
    let remarks = naming.remarks(key, calledItself: name)
    let entry = naming.known[key]
    return PeerPicker.Peer(
      id: SightedPeer(peer).id, name: entry?.nameBeforeDigits ?? name, digits: shown.digits(key, calledItself: name),
      standing: entry.map { $0.isBlocked ? "blocked" : "known" } ?? "new",
      warning: entry == nil ? remarks.joined(separator: ", ") : "",
      remark: entry == nil ? "" : Self.beyondStanding(remarks),
      transports: peer.transports.map { "\($0)" }, signalStrength: peer.signalStrength,
      address: peer.addresses.first?.text ?? "")
  }

  private static func beyondStanding(_ remarks: [String]) -> String {
    remarks.filter { !["known", "blocked"].contains($0) }
      .map { $0.hasPrefix("known, ") ? String($0.dropFirst(7)) : $0 }.joined(separator: ", ")
  }

  /// Where it is. Those that relays have introduced have no address.
  private func places(_ peer: Peer) -> String {
    if !peer.addresses.isEmpty { return "at \(console.places(peer))" }
    if let lack = Self.lack(peer) { return lack }
    return "at the other end of a relay"
  }

  /// `offering only rfcomm and le, which are not used here`: why a peer in sight can't be reached; nil if it may be.
  static func lack(_ peer: Peer) -> String? {
    guard peer.addresses.isEmpty, !peer.otherTransports.isEmpty else { return nil }
    let kinds = peer.otherTransports.map { "\($0)" }
    let list = kinds.count > 1 ? "\(kinds.dropLast().joined(separator: ", ")) and \(kinds[kinds.count - 1])" : kinds[0]
    return "offering only \(list), which \(kinds.count > 1 ? "are" : "is") not used here"
  }

  /// Several peers, a line each, at most as many as the list to pick from has.
  func list(_ peers: [Peer]) -> String {
    let shown = peers.prefix(TerminalLimits.pickerRows)
    let rest = peers.count - shown.count
    let all = PeersShown(peers, naming)
    return shown.map { peer in
      "\n  \(console.describe(peer, all)) \(places(peer))" + (RelayMark.isRelay(peer) ? ", a relay" : "")
    }.joined()
      + (rest > 0 ? "\n  and \(rest) more" : "")
  }
}

extension Console {
  /// From where a peer has come, safe to show. The address of one that is reached over relays is made of keys.
  func origin(_ transport: TransportKind, _ remoteAddress: String) -> String {
    transport == .relay ? "over a relay" : "at \(safe(remoteAddress))"
  }

  /// `tcp 192.0.2.7:4000, l2cap 00:11:22:33:44:55/0x1005`: the best address of each transport, safe to show.
  func places(_ peer: Peer) -> String {
    let best = peer.transports.compactMap { kind in peer.addresses.first { $0.kind == kind } }
    return best.isEmpty ? "?" : best.map { "\($0.kind) \(safe($0.text))" }.joined(separator: ", ")
  }
}
