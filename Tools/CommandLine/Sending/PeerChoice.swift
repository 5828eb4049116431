import Piconet
import Synchronization

/// Why there is nobody to send to.
struct NoChoice: Error, Hashable, Sendable {
  let word: String
  let message: String
  let exitCode: ExitCode
}

/// Finds out whom a recipient, or none, stands for.
struct PeerChoice: Sendable {
  let search: PeerSearch
  let console: Console
  let timeout: Duration
  let session: String
  /// Says why nobody may have been found.
  let bluetooth: BluetoothLook
  /// The fingerprints that this device remembers, by name: who is wanted by such a name has one of these keys.
  let known: [String: Set<String>]
  /// How a person says which one.
  var how = "with --to"
  /// What is about to be done.
  var doing = "Sending to"
  /// Whether a person may be shown a list to pick from, where there is a terminal.
  var asks = true
  /// The key that has to answer, as the person gave it: of several peers that may be meant it is that one.
  var wanted: PeerID?
  /// Whether a person can confirm a stranger's key; otherwise a stranger gets nothing by whatever name.
  var confirmsByHand = true

  /// The peers that `recipient` means: one, or for `all` everybody in sight.
  func peers(for recipient: Recipient) async throws(NoChoice) -> [Peer] {
    let isTold = Atomic(false)
    let obstacles = tellObstacles()
    defer { obstacles.cancel() }
    let first = await search.wait(atMost: timeout) { peers in
      if let peer = matching(recipient, peers).first { return peer }
      // Anybody can take a name: the right one is waited for all the same.
      if let other = impostors(recipient, peers).first, !isTold.exchange(true, ordering: .relaxed) {
        console.note("\(impostorNote(recipient, other)); looking for the one that was")
      }
      return nil
    }
    if first == nil, let other = impostors(recipient, search.look()).first { throw impostor(recipient, other) }
    guard first != nil else { throw await nobody(recipient) }
    try? await ContinuousClock().sleep(
      for: recipient == .all ? PeerSearch.settleTime : PeerSearch.namesakeTime)
    let all = matching(recipient, search.look())
    let matches = recipient == .all ? all : theWanted(of: all)
    guard recipient != .all, matches.count > 1 else {
      guard !matches.isEmpty else { throw await nobody(recipient) }
      return matches
    }
    let isKey = Set(matches.map(\.id.peer)).count == 1
    throw NoChoice(
      word: "ambiguous",
      message: """
        several peers are meant by '\(console.safe(recipient.text))'; \
        \(way(matches) ?? "name one by its \(isKey ? "name" : "fingerprint") \(how)"):\(search.list(matches))
        """, exitCode: .usage)
  }

  private func matching(_ recipient: Recipient, _ peers: [Peer]) -> [Peer] {
    let byID = Dictionary(peers.map { (SightedPeer($0).id, $0) }) { first, _ in first }
    let matches = recipient.matches(in: peers.map(SightedPeer.init), known: known).compactMap { byID[$0.id] }
    // Nobody who was shut out belongs to all.
    return recipient == .all ? matches.filter { !search.isBlocked($0) } : matches
  }

  /// The one whose fingerprint was given, if it is among them.
  private func theWanted(of peers: [Peer]) -> [Peer] {
    let found = peers.filter { $0.id.peer == wanted }
    return found.isEmpty ? peers : found
  }

  /// What leads to one of these where no other way does; nil where they can simply be named.
  private func way(_ peers: [Peer]) -> String? {
    let all = Set(known.values.joined())
    guard !confirmsByHand, wanted == nil, !peers.contains(where: { all.contains($0.id.peer.description) }) else {
      return nil
    }
    return "none of them is known here: give the fingerprint of the one that you mean with --fingerprint, as "
      + "'imagerecv --fingerprint' shows it there"
  }

  private func impostors(_ recipient: Recipient, _ peers: [Peer]) -> [SightedPeer] {
    recipient.impostors(in: peers.map(SightedPeer.init), known: known)
  }

  private func impostorNote(_ recipient: Recipient, _ other: SightedPeer) -> String {
    """
    the '\(console.safe(recipient.text))' in sight (\(other.fingerprint.prefix(SightedPeer.shortFingerprint))) is not the device that was \
    remembered under this name
    """
  }

  private func impostor(_ recipient: Recipient, _ other: SightedPeer) -> NoChoice {
    let petname = known.filter { $0.value.contains(other.fingerprint) }.keys.min()
    let hint =
      petname.map { "it is known here as '\(console.safe($0))': if it is meant, send to that name" }
      ?? "if you are sure that it is meant, give the fingerprint that it shows itself with --fingerprint"
    return NoChoice(word: "identity", message: "\(impostorNote(recipient, other)); \(hint)", exitCode: .identity)
  }

  /// Says what is in the way of Bluetooth while a search goes on, which may end before nobody is found: bluetoothd that
  /// does not answer for half a minute does by then. A search that takes no longer than most asks nothing.
  private func tellObstacles() -> Task<Void, Never> {
    Task {
      try? await ContinuousClock().sleep(for: .seconds(3))
      await bluetooth.follow { obstacle in
        if let obstacle {
          console.warn(of: obstacle)
        } else {
          console.note("Nothing is in the way of Bluetooth any more")
        }
      }
    }
  }

  private func nobody(_ recipient: Recipient) async -> NoChoice {
    let peers = search.look()
    let others = peers.isEmpty ? "" : "; in sight:\(search.list(peers))"
    let who =
      switch recipient {
      case .all: "no peer"
      case .peer(let fingerprint): "no peer with the fingerprint \(fingerprint)"
      case .named(let name): "no peer called '\(console.safe(name))'"
      }
    let message = await bluetooth.explained("\(who) was found within \(HumanFigures.seconds(timeout))")
    return NoChoice(word: "no-such-peer", message: message + hint(recipient) + others, exitCode: .noSuchPeer)
  }

  /// Nobody calls a device so.
  private func hint(_ recipient: Recipient) -> String {
    guard case .named(let name) = recipient, (try? DialPlace(OptionArgument(bytes: Array(name.utf8)))) != nil else {
      return ""
    }
    return "; give an address with --address"
  }

  /// Without `--to`: the only peer in sight, or the one that a person picks.
  func only() async throws(NoChoice) -> Peer {
    let hint = Task {
      // Silence would look like a program that hangs.
      try await ContinuousClock().sleep(for: .seconds(1))
      console.note("Looking for peers of session '\(console.safe(session))'...")
    }
    let obstacles = tellObstacles()
    let isSeen: Bool? = await search.wait(atMost: timeout) { $0.isEmpty ? nil : true }
    hint.cancel()
    obstacles.cancel()
    guard isSeen == true else { throw await nobody(.all) }
    try? await ContinuousClock().sleep(for: PeerSearch.settleTime)
    let peers = theWanted(of: search.look())
    guard peers.count != 1 else {
      console.note("\(peers[0].id.peer == wanted ? doing : "The only peer in sight is") \(search.describe(peers[0]))")
      return peers[0]
    }
    guard !peers.isEmpty else { throw await nobody(.all) }
    guard asks, PeerPickerTerminal.isPossible, !console.verbosity.isQuiet else {
      throw NoChoice(
        word: "ambiguous",
        message: "several peers are in sight; \(way(peers) ?? "choose \(how)"):\(search.list(peers))",
        exitCode: .usage)
    }
    return try await pick()
  }

  private func pick() async throws(NoChoice) -> Peer {
    guard let updates = PeerListUpdates() else {
      throw NoChoice(word: "terminal", message: "the list of peers can't be shown", exitCode: .internalError)
    }
    let follower = Task {
      let shown = Mutex<Set<String>>([])
      await search.follow { peers in
        let rows = search.rows(peers)
        let present = Set(rows.map(\.id))
        let gone = shown.withLock { shown in
          defer { shown = present }
          return shown.subtracting(present)
        }
        for row in rows { updates.post(.appeared(row)) }
        for id in gone { updates.post(.vanished(id: id)) }
      }
    }
    let outcome = await withTaskCancellationHandler {
      await onItsOwnThread {
        var terminal = PeerPickerTerminal(updates: updates)
        return terminal.run()
      }
    } onCancel: {
      updates.post(.cancelled)
    }
    follower.cancel()
    switch outcome {
    case .picked(let id):
      if let peer = search.look().first(where: { SightedPeer($0).id == id }) {
        console.note("\(doing) \(search.describe(peer))")
        return peer
      }
      throw NoChoice(word: "no-such-peer", message: "the peer has just gone", exitCode: .noSuchPeer)
    case .quit: throw NoChoice(word: "not-picked", message: "nobody was picked", exitCode: .usage)
    case .interrupted, .cancelled:
      throw NoChoice(word: "cancelled", message: "interrupted", exitCode: .interrupted)
    case .failed(let code):
      throw NoChoice(
        word: "terminal", message: "the terminal failed: \(SystemError.text(code))", exitCode: .internalError)
    case nil:
      throw NoChoice(word: "terminal", message: "the list of peers can't be shown", exitCode: .internalError)
    }
  }
}
