import Piconet
import PiconetActors
import PiconetTerminal
import Synchronization

/// Why no receiver was chosen.
struct NoChoice: Error, Hashable, Sendable {
  let word: String
  let message: String
  let exitCode: ExitCode
}

/// Determines the peers that a recipient means, or the peers to choose from without one.
struct PeerChoice: Sendable {
  let search: PeerSearch
  let console: Console
  let timeout: Duration
  let session: String
  /// Says why no peer may have been found.
  let bluetooth: BluetoothLook
  /// The fingerprints that this device remembers, by name: a peer wanted by such a name has one of these keys.
  let known: [String: Set<String>]
  /// How a person says which one.
  var how = "with --to"
  /// What is about to be done.
  var doing = "Sending to"
  /// The program that must run on the other device.
  var receiver = "imagerecv"
  /// What the list to pick from is for.
  var title = "Send to"
  /// Whether a person may be shown a list to pick from, if there is a terminal.
  var asks = true
  /// The key that must answer, as the person gave it: of several peers that may be meant, its owner is.
  var wanted: PeerID?
  /// What the person calls the device with that key; nil: nothing.
  var wantedName: Recipient?
  /// Whether a name that a program advertises for its objects means its device, if no device has that name itself.
  var takesAdvertisedNames = false
  /// Whether a person can confirm a stranger's key; otherwise a stranger gets nothing under any name.
  var confirmsByHand = true
  /// Whether it is looked for over relays, too.
  var hasRelays = false

  /// Returns the peers that `recipient` means: one, or every peer in sight for `all`.
  func peers(for recipient: Recipient) async throws(NoChoice) -> [Peer] {
    if let blockade = search.blockade(keys(recipient)) {
      throw NoChoice(
        word: "not-confirmed", message: "\(console.safe(recipient.text)): \(console.safe(blockade))",
        exitCode: .identity)
    }
    let isTold = Atomic(false)
    let isLackTold = Atomic(false)
    let notes = tellSearch(recipient)
    defer { notes.cancel() }
    let first = await search.wait(atMost: timeout) { peers in
      let matches = matching(recipient, peers)
      if let peer = matches.first(where: isReachable) { return peer }
      if let peer = matches.first, !isLackTold.exchange(true, ordering: .relaxed) { tell(unreachable: peer) }
      // Any device can take a name, so the search still waits for the right one.
      if let other = impostors(recipient, peers).first, !isTold.exchange(true, ordering: .relaxed) {
        console.note("\(impostorNote(recipient, other)); looking for the one that was")
      }
      return nil
    }
    if first == nil, let other = impostors(recipient, search.peersNow()).first { throw impostor(recipient, other) }
    guard let first else { throw await nobody(recipient) }
    // A peer with exactly this name may come a moment later, and goes before one that is merely meant by it.
    let isSettled = recipient != .all && isCalled(first, recipient)
    if isSettled { notes.cancel() }
    try? await ContinuousClock().sleep(for: isSettled ? PeerSearch.namesakeTime : PeerSearch.settleTime)
    let all = matching(recipient, search.peersNow()).filter(isReachable)
    let matches = recipient == .all ? all : theWanted(of: all)
    guard recipient != .all, matches.count > 1 else {
      guard !matches.isEmpty else { throw await nobody(recipient) }
      return matches
    }
    if let one = oneDevice(recipient, matches) { return [one] }
    throw ambiguous(recipient, matches)
  }

  /// The one to connect to where all of these have one key that the person knows or has given; nil: they have not. Any
  /// device can advertise that key under further names, which must not stop a sending: an invitation tries all of them.
  private func oneDevice(_ recipient: Recipient, _ peers: [Peer]) -> Peer? {
    let wanted = keys(recipient)
    guard let first = peers.first, wanted.contains(first.id.peer),
      peers.allSatisfy({ $0.id.peer == first.id.peer })
    else { return nil }
    return first
  }

  /// The keys that the person has given, or knows under the wanted name.
  private func keys(_ recipient: Recipient) -> Set<PeerID> {
    switch recipient {
    case .all: []
    case .peer(let fingerprint): Set([PeerID(hexadecimal: fingerprint)].compactMap(\.self))
    case .named(let name): Set(RememberedName(name, in: known).keys.compactMap { PeerID(hexadecimal: $0) })
    }
  }

  private func ambiguous(_ recipient: Recipient, _ matches: [Peer]) -> NoChoice {
    let isKey = Set(matches.map(\.id.peer)).count == 1
    let differs = recipient.differsInCase(from: matches.map(SightedPeer.init), known: known)
    let names = Set(matches.map(\.name)).count == matches.count
    let word = isKey || differs && names ? "name\(differs ? " to the letter" : "")" : "fingerprint"
    return NoChoice(
      word: "ambiguous",
      message: """
        several peers are meant by '\(console.safe(recipient.text))'; \
        \(way(matches) ?? "name one by its \(word) \(how)"):\(search.list(matches))
        """, exitCode: .usage)
  }

  private func matching(_ recipient: Recipient, _ peers: [Peer]) -> [Peer] {
    let byID = Dictionary(peers.map { (SightedPeer($0).id, $0) }) { first, _ in first }
    // Under the name that is meant: a stranger has to say it in its hello.
    let matches = recipient.matches(in: peers.map(SightedPeer.init), known: known)
      .compactMap { match in byID[match.id]?.called(match.name) }
    // Blocked peers do not belong to `all`.
    guard recipient == .all else {
      return search.preferred(matches.isEmpty ? advertising(recipient, peers) : matches)
    }
    return matches.filter { !search.isBlocked($0) && (search.isSought($0) || isKnown($0)) }
  }

  /// Whether its key is known here. What is advertised of it, such as that it is a relay, may be another's word.
  private func isKnown(_ peer: Peer) -> Bool { known.values.contains { $0.contains(peer.id.peer.description) } }

  /// Whether it has this name to the letter, or this key, and does not only advertise the name for its objects.
  private func isCalled(_ peer: Peer, _ recipient: Recipient) -> Bool {
    let sighted = [SightedPeer(peer)]
    return !recipient.matches(in: sighted, known: known).isEmpty
      && !recipient.differsInCase(from: sighted, known: known)
  }

  /// Those that advertise the name, which is no name of a known device.
  private func advertising(_ recipient: Recipient, _ peers: [Peer]) -> [Peer] {
    guard takesAdvertisedNames, case .named(let name) = recipient, keys(recipient).isEmpty else { return [] }
    return peers.filter { $0.advertisement.names.contains(name) }
  }

  /// Whether a person who names no receiver means it.
  private func isListed(_ peer: Peer) -> Bool {
    isReachable(peer) && (search.isSought(peer) || peer.id.peer == wanted)
  }

  /// Whether there may be a way to it: it has a transport in common with us, or a relay may lead to it.
  private func isReachable(_ peer: Peer) -> Bool { hasRelays || PeerSearch.lack(peer) == nil }

  private func tell(unreachable peer: Peer) {
    guard let lack = PeerSearch.lack(peer) else { return }
    console.note("\(search.describe(peer)) is in sight, \(lack): waiting for another one")
  }

  /// Returns whether any peer in sight has the wanted name.
  func isNamedInSight(_ recipient: Recipient?) -> Bool {
    guard let recipient, recipient != .all else { return false }
    let peers = search.peersNow()
    return !matching(recipient, peers).isEmpty || !impostors(recipient, peers).isEmpty
  }

  /// The one whose fingerprint was given, if it is among them.
  private func theWanted(of peers: [Peer]) -> [Peer] {
    let found = peers.filter { $0.id.peer == wanted }
    return found.isEmpty ? peers : found
  }

  /// How to reach one of these if nothing else works; nil if they can simply be named.
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
    let petname = known[other.name] == nil ? rememberedName(recipient) : nil
    let who = petname.map { "is known as '\(console.safe($0))'" } ?? "was remembered under this name"
    let digits = other.fingerprint.prefix(SightedPeer.shortFingerprint)
    return "the '\(console.safe(other.name))' in sight (\(digits)) is not the device that \(who)"
  }

  /// The petname that the recipient means, spelled differently.
  private func rememberedName(_ recipient: Recipient) -> String? {
    guard case .named(let name) = recipient, known[name] == nil else { return nil }
    let keys = RememberedName(name, in: known).keys
    return known.filter { !keys.isDisjoint(with: $0.value) }.keys.min()
  }

  private func impostor(_ recipient: Recipient, _ other: SightedPeer) -> NoChoice {
    let petname = known.filter { $0.value.contains(other.fingerprint) }.keys.min()
    let hint =
      petname.map { "it is known here as '\(console.safe($0))': if it is meant, send to that name" }
      ?? "if you are sure that it is meant, give the fingerprint that it shows itself with --fingerprint"
    return NoChoice(word: "identity", message: "\(impostorNote(recipient, other)); \(hint)", exitCode: .identity)
  }

  /// Says what is being looked for, who else is there, and what may be in the way, while the search goes on.
  private func tellSearch(_ recipient: Recipient?) -> Task<Void, Never> {
    Task {
      let obstacle = await bluetooth.obstacleAtStart()
      let isFirst = search.isFirst("bluetooth")
      if let obstacle, isFirst, !Task.isCancelled { console.warn(of: obstacle) }
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          await SearchProgress(
            choice: self, recipient: recipient, isExplained: obstacle != nil,
            isLackTold: obstacle != nil && bluetooth.obstacleTellsLack
          ).tell()
        }
        if isFirst { group.addTask { await tellObstacles(told: ObstacleMemory.Change(obstacle: obstacle)) } }
      }
    }
  }

  /// Says what is in the way of Bluetooth while a search goes on. An obstacle may go away before the search ends:
  /// bluetoothd may not answer for half a minute, and then does. A search that takes no longer than most asks nothing.
  private func tellObstacles(told: ObstacleMemory.Change) async {
    try? await ContinuousClock().sleep(for: .seconds(3))
    if Task.isCancelled { return }
    await bluetooth.follow(told: told) { obstacle in
      if let obstacle {
        console.warn(of: obstacle)
      } else {
        console.note("Nothing is in the way of Bluetooth any more")
      }
    }
  }

  /// Returns the peer with the name of the device whose key was given, but another key; nil: none in sight.
  private func otherKey(_ recipient: Recipient, _ peers: [Peer]) -> NoChoice? {
    guard case .peer(let fingerprint) = recipient, let wantedName, case .named = wantedName else { return nil }
    let named = matching(wantedName, peers).map(SightedPeer.init) + impostors(wantedName, peers)
    guard let other = named.first(where: { $0.fingerprint != fingerprint }) else { return nil }
    let (expected, seen) = (
      fingerprint.prefix(SightedPeer.shortFingerprint), other.fingerprint.prefix(SightedPeer.shortFingerprint)
    )
    return NoChoice(
      word: "identity",
      message:
        "expected the key \(expected)\(ofKnown(fingerprint)), but '\(console.safe(wantedName.text))' in sight has the key \(seen)",
      exitCode: .identity)
  }

  /// Whose key it is, if that is known here.
  private func ofKnown(_ fingerprint: String) -> String {
    known.filter { $0.value.contains(fingerprint) }.keys.min().map { " of '\(console.safe($0))'" } ?? ""
  }

  private func nobody(_ recipient: Recipient) async -> NoChoice {
    let peers = search.peersNow()
    if let other = otherKey(recipient, peers) { return other }
    let others = peers.isEmpty ? "" : "; in sight:\(search.list(peers))"
    let who =
      switch recipient {
      case .all: "no peer"
      case .peer(let fingerprint): "no peer with the fingerprint \(fingerprint)"
      case .named(let name): "no peer called '\(console.safe(name))'"
      }
    let found = "\(who) was found within \(HumanFigures.seconds(timeout))"
    let unreachable = (recipient == .all ? peers : matching(recipient, peers)).first { !isReachable($0) }
    if let unreachable, let lack = PeerSearch.lack(unreachable) {
      let words = "\(search.describe(unreachable)) is in sight, \(lack): give both sides the same --transport, or none"
      return NoChoice(word: "no-such-peer", message: "\(found); \(words)", exitCode: .noSuchPeer)
    }
    var message = await bluetooth.explained(found)
    if message == found, peers.isEmpty { message += "; \(bluetooth.networkLack ?? isItRunning)" }
    if let near = meant(recipient) { message += " (\(near))" }
    return NoChoice(word: "no-such-peer", message: message + hint(recipient) + others, exitCode: .noSuchPeer)
  }

  /// What to check if no peer is in sight and nothing seems to be in the way.
  var isItRunning: String {
    var place = bluetooth.usesNetwork ? "on this network" : "in reach of this device's Bluetooth"
    if hasRelays { place += ", or with --relay" }
    return "is \(receiver) running there, \(place)? ('piconet doctor' looks at this side)"
  }

  /// Returns `did you mean 'Living room'?`, safe to show. Nil if no peer in sight has a similar name, and if one that
  /// is meant has just come: letter case is no other name.
  func meant(_ recipient: Recipient?) -> String? {
    guard case .named(let name) = recipient, let recipient, matching(recipient, search.peersNow()).isEmpty else {
      return nil
    }
    // Digits mean a key: who has them in his name is not meant.
    if RememberedName(name, in: known).hasDigits { return nil }
    let near = NearNames.near(name, among: search.names().filter { $0 != name })
    return near.isEmpty ? nil : "did you mean \(listed(near))?"
  }

  /// `'Hall', 'Kitchen' or 'Attic'`, safe to show.
  func listed(_ names: [String], before word: String = "or") -> String {
    let quoted = names.map { "'\(console.safe($0).replacing("'", with: "\\'"))'" }
    guard quoted.count > 1, let last = quoted.last else { return quoted.first ?? "" }
    return "\(quoted.dropLast().joined(separator: ", ")) \(word) \(last)"
  }

  /// A hint if the name looks like an address, since no device is called that.
  private func hint(_ recipient: Recipient) -> String {
    guard case .named(let name) = recipient, (try? DialPlace(OptionArgument(bytes: Array(name.utf8)))) != nil else {
      return ""
    }
    return "; give an address with --address"
  }

  /// Without `--to`: the only peer in sight, or the one that a person picks.
  func only() async throws(NoChoice) -> Peer {
    guard let peer = try await chosen(takesSeveral: false).first else { throw Self.justGone }
    return peer
  }

  private static let justGone = NoChoice(
    word: "no-such-peer", message: "the peer has just gone", exitCode: .noSuchPeer)

  /// Without `--to`: the only peer in sight, or those that a person picks, at least one.
  func chosen(takesSeveral: Bool = true) async throws(NoChoice) -> [Peer] {
    let notes = tellSearch(nil)
    defer { notes.cancel() }
    let isSeen: Bool? = await search.wait(atMost: timeout) { $0.contains(where: isListed) ? true : nil }
    guard isSeen == true else { throw await nobody(.all) }
    try? await ContinuousClock().sleep(for: PeerSearch.settleTime)
    notes.cancel()
    let peers = theWanted(of: search.peersNow().filter(isListed))
    guard peers.count != 1 else {
      console.note("\(peers[0].id.peer == wanted ? doing : "The only peer in sight is") \(search.describe(peers[0]))")
      return peers
    }
    guard !peers.isEmpty else { throw await nobody(.all) }
    guard asks, PeerPickerTerminal.isPossible, !console.verbosity.isQuiet else {
      throw NoChoice(
        word: "ambiguous",
        message: "several peers are in sight; \(way(peers) ?? "choose \(how)"):\(search.list(peers))",
        exitCode: .usage)
    }
    let words = PeerPicker.Words(enter: title == "Send to" ? "sends" : "takes", unlistedHint: ", use --to")
    return try await pick(PeerPicker(title: title, takesSeveral: takesSeveral, words: words))
  }

  private func pick(_ picker: PeerPicker) async throws(NoChoice) -> [Peer] {
    guard let updates = PeerListUpdates() else {
      throw NoChoice(word: "terminal", message: "the list of peers can't be shown", exitCode: .internalError)
    }
    // The list occupies the terminal.
    search.setQuiet(true)
    let follower = Task {
      let shown = Mutex<Set<String>>([])
      await search.follow { peers in
        let rows = search.rows(peers.filter(isListed))
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
        var terminal = PeerPickerTerminal(updates: updates, picker: picker)
        return terminal.run()
      }
    } onCancel: {
      updates.post(.cancelled)
    }
    follower.cancel()
    search.setQuiet(false)
    if outcome == .hungUp { await Interruption.hangUp() }
    switch outcome {
    case .picked(let ids): return try picked(ids)
    // A list that ends with a pick has nothing to finish.
    case .quit, .finished: throw NoChoice(word: "not-picked", message: "nobody was picked", exitCode: .usage)
    case .hungUp where !Task.isCancelled:
      throw NoChoice(word: "not-picked", message: "nobody was picked: the terminal was closed", exitCode: .usage)
    case .interrupted, .cancelled, .hungUp:
      throw NoChoice(word: "cancelled", message: "interrupted", exitCode: .interrupted)
    case .failed(let code):
      throw NoChoice(
        word: "terminal", message: "the terminal failed: \(ErrorNumber.text(code))", exitCode: .internalError)
    case nil:
      throw NoChoice(word: "terminal", message: "the list of peers can't be shown", exitCode: .internalError)
    }
  }

  private func picked(_ ids: [String]) throws(NoChoice) -> [Peer] {
    let peers = Dictionary(search.peersNow().map { (SightedPeer($0).id, $0) }) { first, _ in first }
    let present = ids.compactMap { peers[$0] }
    guard !present.isEmpty else { throw Self.justGone }
    for peer in present { console.note("\(doing) \(search.describe(peer))") }
    let gone = ids.count - present.count
    if gone > 0 { console.fail("no-such-peer", "\(gone) of those that were picked have just gone", .noSuchPeer) }
    return present
  }
}
