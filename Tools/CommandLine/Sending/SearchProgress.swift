import Piconet

/// Reports the progress of a search for peers while it lasts: silence would look as if the program hangs.
struct SearchProgress: Sendable {
  let choice: PeerChoice
  /// nil: any peer in sight.
  let recipient: Recipient?
  /// Whether it was said what is in the way.
  var isExplained = false
  /// Whether the warning about Bluetooth has said that there is no network.
  var isLackTold = false

  /// Runs until the task is cancelled.
  func tell() async {
    var notes = SearchNotes()
    let start = ContinuousClock.now
    while !Task.isCancelled {
      let time = ContinuousClock.now - start
      for note in notes.due(at: time, seen(after: time)) { say(note) }
      // Names are compared once a second.
      try? await ContinuousClock().sleep(for: time < SearchNotes.nearTime ? SearchNotes.lookingTime : .seconds(1))
    }
  }

  private func seen(after time: Duration) -> SearchNotes.Seen {
    SearchNotes.Seen(
      networkLack: choice.bluetooth.networkLack,
      names: time < SearchNotes.nearTime ? [] : choice.search.names(),
      near: time < SearchNotes.nearTime ? nil : choice.meant(recipient),
      isNamed: time < SearchNotes.nearTime ? false : choice.isNamedInSight(recipient))
  }

  private func say(_ note: SearchNotes.Note) {
    let console = choice.console
    switch note {
    case .looking: console.note("Looking for \(whom)...")
    case .noNetwork(let lack):
      guard choice.search.isFirst(lack), !isLackTold else { return }
      if choice.bluetooth.hasRadio { return console.note("There is no network here: looking over Bluetooth alone") }
      console.warn(of: lack + "; looking goes on", reason: "network")
    case .network: if choice.search.isFirst("network") { console.note("A network is there now") }
    case .near(let meant): console.note("\(whom) is not in sight yet; \(meant)")
    case .others(let names):
      console.note("\(whom) is not in sight yet; others are: \(choice.listed(names, before: "and"))")
    case .nobody:
      if !isExplained, choice.search.isFirst("nobody") { console.note("Nobody is in sight yet: \(choice.isItRunning)") }
    }
  }

  private var whom: String {
    let console = choice.console
    return switch recipient {
    case .peer(let fingerprint): "the key \(fingerprint.prefix(SightedPeer.shortFingerprint))"
    case .named(let name): "'\(console.safe(name))'"
    case .all, nil: "peers of session '\(console.safe(choice.session))'"
    }
  }
}

/// The messages about a search, and their times. A value: its owner supplies the time and the observations.
struct SearchNotes: Sendable {
  /// What is seen at a moment.
  struct Seen: Hashable, Sendable {
    /// Why no peer can be found over a network.
    var networkLack: String?
    /// The names of those in sight.
    var names: [String] = []
    /// "did you mean 'Living room'?"
    var near: String?
    /// Whether one of those in sight has the wanted name: what keeps it from being meant is told elsewhere.
    var isNamed = false
  }

  enum Note: Hashable, Sendable {
    case looking
    case noNetwork(String)
    case network
    case near(String)
    /// Others are there, and none has a similar name.
    case others([String])
    case nobody
  }

  /// By then a present peer has usually been found, and no message is needed.
  static let lookingTime = Duration.milliseconds(250)
  static let nearTime = Duration.seconds(1)
  static let othersTime = Duration.seconds(3)
  /// How many names of others are given.
  static let othersTold = 5
  /// A limit, since peers may change their names as often as they like.
  static let nearTold = 8

  private var isLookingTold = false
  private var lackTold: String?
  private var nearTold: Set<String> = []
  private var isRestTold = false
  /// Since when there has been a network, if there was none before.
  private var networkTime = Duration.zero

  /// Returns the messages that are due now.
  mutating func due(at time: Duration, _ seen: Seen) -> [Note] {
    var notes = network(seen.networkLack, at: time)
    if time >= Self.lookingTime || seen.networkLack != nil, !isLookingTold {
      isLookingTold = true
      notes.insert(.looking, at: 0)
    }
    guard time >= Self.nearTime else { return notes }
    guard let near = seen.near else { return notes + rest(seen, at: time) }
    if nearTold.count < Self.nearTold, nearTold.insert(near).inserted { notes.append(.near(near)) }
    return notes
  }

  /// Returns the message about other peers, if no peer has a similar name.
  private mutating func rest(_ seen: Seen, at time: Duration) -> [Note] {
    let isDue = time >= networkTime + Self.othersTime && (seen.networkLack == nil || !seen.names.isEmpty)
    guard isDue, !isRestTold, nearTold.isEmpty, !seen.isNamed else { return [] }
    isRestTold = true
    return [seen.names.isEmpty ? .nobody : .others(Array(seen.names.prefix(Self.othersTold)))]
  }

  private mutating func network(_ lack: String?, at time: Duration) -> [Note] {
    guard lack != lackTold else { return [] }
    networkTime = time
    defer { lackTold = lack }
    return [lack.map(Note.noNetwork) ?? .network]
  }
}
