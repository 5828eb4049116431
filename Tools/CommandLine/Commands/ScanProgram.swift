import Piconet
import PiconetActors

/// `piconet scan` and `piconet browse`: a node that searches for each session, and reports changes of its list of
/// peers.
struct ScanProgram: Sendable {
  let arguments: ScanArguments
  let environment: ProgramEnvironment
  let console: Console
  /// Only peers that advertise this, which is shown; nil: all peers, without their advertisements.
  var wanted: WantedAdvertisement?
  /// Failures so far: the sessions' nodes usually fail for the same reason.
  private let failures = Guarded<Set<TransferFailure>>([])

  /// A change between two lists of peers, in the order of the lists.
  enum Change: Hashable {
    case found(Peer)
    case changed(Peer)
    case lost(Peer)

    static func between(_ before: [Peer], _ after: [Peer]) -> [Change] {
      let old = Dictionary(before.map { ($0.id, $0) }) { first, _ in first }
      let present = Set(after.map(\.id))
      return before.filter { !present.contains($0.id) }.map(Change.lost)
        + after.compactMap { peer in
          guard let known = old[peer.id] else { return .found(peer) }
          return known == peer ? nil : .changed(peer)
        }
    }
  }

  func run() async {
    guard console.accepts(arguments.transport) else { return }
    let sessions = arguments.sessions.isEmpty ? ScanArguments.usualSessions : arguments.sessions
    let kinds = environment.transports(arguments.transport).map { "\($0)" }.joined(separator: ", ")
    let limit = arguments.timeout.map { "for \(HumanFigures.seconds($0))" } ?? "until Ctrl-C"
    console.note(
      "Looking for peers of \(sessions.map { console.safe($0) }.joined(separator: ", ")) over \(kinds), \(limit)")
    let seen = Guarded(0)
    let naming = environment.naming
    let bluetooth = BluetoothLook(options: arguments.transport, environment: environment)
    let failure = Guarded(wanted == nil ? "no peer was seen" : "no peer was seen that advertises it")
    let look: @Sendable () async -> Void? = {
      await withTaskGroup(of: Void.self) { group in
        for (index, session) in sessions.enumerated() {
          group.addTask {
            await scan(session, naming, number: index + 1, seen: { seen.change { $0 += 1 } }) {
              guard index == 0, arguments.timeout != nil, seen.value == 0 else { return }
              let words = await bluetooth.explained(failure.value)
              failure.change { $0 = words }
            }
          }
        }
        if arguments.timeout == nil {
          group.addTask { await bluetooth.follow { if let obstacle = $0 { console.warn(of: obstacle) } } }
        }
      }
    }
    if let timeout = arguments.timeout {
      let _: Void? = await limited(to: timeout, look)
      if seen.value == 0, !Task.isCancelled, console.isClean {
        console.fail("no-such-peer", failure.value, .noSuchPeer)
      }
    } else {
      await look()
    }
  }

  /// Scans until the task is cancelled.
  /// - Parameter ending: called before the node restores the adapter.
  private func scan(
    _ session: String, _ naming: PeerNaming, number: Int, seen: @Sendable () -> Void, ending: @Sendable () async -> Void
  ) async {
    do throws(PiconetError) {
      var configuration = try environment.configuration(
        session: session, name: nil, mode: .client, transport: arguments.transport)
      // A trace covers a single node: each session has its own.
      if number > 1, var trace = configuration.trace {
        trace.path += ".\(number)"
        configuration.trace = trace
      }
      let node = try await Node(configuration)
      // All nodes of a run remember the same peers.
      if number == 1 { await console.tellDamage(node) }
      do throws(PiconetError) {
        try await node.setAvailable(true)
        var before: [Peer] = []
        for await all in node.peers {
          let peers = wanted.map { wanted in all.filter { wanted.fits($0.advertisement) } } ?? all
          let shown = PeersShown(peers, naming)
          for change in Change.between(before, peers) {
            if case .found = change { seen() }
            tell(change, session, shown)
          }
          before = peers
        }
        await ending()
      } catch {
        fail(error)
      }
      await node.stop()
    } catch {
      fail(error)
    }
  }

  /// Returns the advertisement in words, each kind on a separate line.
  private func words(_ advertisement: Advertisement) -> String {
    let interfaces = advertisement.interfaces.map { $0.version == 1 ? $0.name : "\($0.name), version \($0.version)" }
    return [
      ("name", advertisement.names), ("interface", interfaces), ("model", [advertisement.model].compactMap { $0 }),
    ]
    .map { word, list in list.map { "\n        \(word) \(console.safe($0))" }.joined() }.joined()
  }

  private func fail(_ error: PiconetError) {
    let failure = TransferFailure(error, on: .sender)
    guard failures.change({ $0.insert(failure).inserted }) else { return }
    console.fail(failure.word, console.safe(failure.message), failure.exitCode)
  }

  private func tell(_ change: Change, _ session: String, _ shown: PeersShown) {
    func place(_ peer: Peer) -> ProgramEvent.Found {
      ProgramEvent.Found(
        peer: peer.id.peer.description, name: peer.name, session: session, address: peer.addresses.first?.text,
        transports: peer.transports.map { "\($0)" }, signal: peer.signalStrength,
        names: wanted == nil ? [] : peer.advertisement.names,
        interfaces: wanted == nil ? [] : peer.advertisement.interfaces.map(\.description),
        model: wanted == nil ? nil : peer.advertisement.model)
    }
    func line(_ word: String, _ peer: Peer) -> String {
      word + String(repeating: " ", count: 8 - word.count)
        + "\(console.describe(peer, shown)) in \(console.safe(session))"
    }
    func strength(_ peer: Peer) -> String {
      (peer.signalStrength.map { ", \($0) dBm" } ?? "") + (wanted == nil ? "" : words(peer.advertisement))
    }
    switch change {
    case .found(let peer):
      console.tell(.found(place(peer)))
      console.result("\(line("found", peer)): \(console.places(peer))\(strength(peer))", evenIfQuiet: true)
    case .changed(let peer):
      console.tell(.changed(place(peer)))
      console.result("\(line("changed", peer)): \(console.places(peer))\(strength(peer))", evenIfQuiet: true)
    case .lost(let peer):
      console.tell(.lost(ProgramEvent.Lost(peer: peer.id.peer.description, name: peer.name, session: session)))
      console.result(line("lost", peer), evenIfQuiet: true)
    }
  }
}
