import Piconet

/// A program's membership at a relay, so that it reaches others, and is reached, where no network leads. It joins the
/// relay that the person has named, and joins it again whenever it is lost.
///
/// A relay is not trusted with contents: the identity of the other end is proven through it, and it can't read
/// anything. No file is taken from it either.
final class RelayMembership: Sendable {
  let node: Node
  let console: Console
  /// The relay's name, key or address.
  let target: DialTarget
  let transport: TransportOptions
  let environment: ProgramEnvironment
  let session: String
  /// How long it is looked for; and how long it has for its answer.
  let searchTime: Duration
  let timeout: Duration
  /// nil: no person is asked about the relay's key, and nothing is remembered.
  let contact: FirstContact?
  /// Whether a relay that refuses this node, or is not the intended one, is not tried again. A receiver that waits for
  /// senders goes on trying: no one is there to start it again.
  let givesUp: Bool
  /// Whether others are to reach this device over the relay, which is said once it is joined: nothing else shows it.
  let isForOthers: Bool
  /// The nodes that are there as relays.
  private let relays = Guarded<[NodeID: Place]>([:])

  private struct Place: Sendable {
    var membership: Member?
    /// What waits for its end.
    var end: AsyncStream<Never>.Continuation?
  }

  init(
    _ target: DialTarget, node: Node, console: Console, transport: TransportOptions, environment: ProgramEnvironment,
    session: String, searchTime: Duration, timeout: Duration, contact: FirstContact? = nil,
    givesUp: Bool, isForOthers: Bool = false
  ) {
    self.target = target
    self.node = node
    self.console = console
    self.transport = transport
    self.environment = environment
    self.session = session
    self.searchTime = searchTime
    self.timeout = timeout
    self.contact = contact
    self.givesUp = givesUp
    self.isForOthers = isForOthers
  }

  /// Sets a node up for being reached over relays.
  static func prepare(_ configuration: inout NodeConfiguration) {
    // A node that a relay introduces is a peer in sight, and no more: a person, or a right, decides.
    configuration.introductions = .show
    configuration.transports.append(.relay)
  }

  /// Whether this node was joined only as a relay.
  func contains(_ node: NodeID) -> Bool { relays.value.keys.contains(node) }

  /// Takes a change of the session's membership.
  func tell(_ change: MembershipChange) {
    guard case .left(let member, _) = change else { return }
    guard let place = relays.value[member.id], place.membership == member else { return }
    place.end?.finish()
  }

  /// Joins, and joins again whenever the relay is gone, after pauses that grow: a relay may let us in and send us away
  /// as often as it likes. Returns when the task is cancelled, or the relay is given up.
  func keep() async {
    let naming = environment.naming
    let search = PeerSearch(node: node, console: console, session: session, naming: naming, seeks: .relays)
    var isReturn = false
    var pause = Self.firstPause
    // Said once, however often it is tried.
    var lastFailure: TransferFailure?
    while !Task.isCancelled {
      do throws(TransferFailure) {
        let member = try await join(search, naming, isReturn: isReturn)
        let start = ContinuousClock.now
        if isForOthers {
          console.note("Others can reach this device over the relay \(console.describe(member.proven))")
        }
        await gone(member)
        relays.change { _ = $0.removeValue(forKey: member.id) }
        guard !Task.isCancelled else { return }
        if ContinuousClock.now - start > Self.soundTime { (pause, lastFailure) = (Self.firstPause, nil) }
        console.note("The relay \(console.describe(member.proven)) is gone; looking for it again")
        isReturn = true
      } catch {
        // The one that did not let us in may have been another relay.
        relays.change { $0 = [:] }
        if Task.isCancelled { return }
        let mayPass = ReceiverReturn.isPossible(after: error) || error.exitCode == .noSuchPeer
        if lastFailure?.word != error.word {
          let words = "\(console.safe(target.description)): \(console.safe(error.message))"
          // That it is looked for again has been said.
          if isReturn, mayPass {
            console.note("The relay \(words)", detail: 1)
          } else {
            console.problem("the relay \(words)")
          }
        }
        lastFailure = error
        guard mayPass || !givesUp else { return }
      }
      try? await ContinuousClock().sleep(for: pause)
      pause = min(pause * 2, Self.longestPause)
    }
  }

  private static let firstPause = Duration.seconds(1)
  private static let longestPause = Duration.seconds(300)
  /// A membership that lasts this long is genuine.
  private static let soundTime = Duration.seconds(60)

  private func join(
    _ search: PeerSearch, _ naming: PeerNaming, isReturn: Bool
  ) async throws(TransferFailure) -> Member {
    let place: PeerConnection.Place
    switch target {
    case .place(let address): place = .address(address, address.kinds(transport.choice))
    case .peer(let recipient):
      let choice = PeerChoice(
        search: search, console: console, timeout: isReturn ? CommandLineLimits.longestWait : searchTime,
        session: session, bluetooth: BluetoothLook(options: transport, environment: environment),
        known: naming.fingerprints, how: "with --relay", doing: "Reaching others over", receiver: "piconet relay",
        asks: false)
      do throws(NoChoice) {
        guard let peer = try await choice.peers(for: recipient).first else {
          throw NoChoice(word: "no-such-peer", message: "it has just gone", exitCode: .noSuchPeer)
        }
        place = .peer(peer)
      } catch {
        throw TransferFailure(error)
      }
    }
    let connection = PeerConnection(
      node: node, place: place, console: console, contact: contact, naming: naming, purpose: .relay,
      proven: { [relays] peer in relays.change { $0[peer.id] = Place() } })
    return try await connection.open(timeout: timeout)
  }

  /// Waits until it is no longer a member.
  private func gone(_ member: Member) async {
    let (end, ending) = AsyncStream<Never>.makeStream()
    relays.change { $0[member.id] = Place(membership: member, end: ending) }
    // It may have left before.
    if node.session[member.id] != member { return }
    for await _ in end {}
  }

  /// Returns the relays over which a member is reached, in words; nil: there is no relay in between.
  func route(to member: Member) -> String? {
    guard let route = member.route, !route.isDirect else { return nil }
    let names = route.relays.map { id in
      node.session[id].map { console.describe($0.proven) } ?? id.peer.shortDescription
    }
    let all = names.isEmpty ? "\(route.relayCount) relays" : names.joined(separator: " and ")
    return
      "\(console.name(member.proven)) is reached over the relay \(all), which sees how much goes when, and nothing of what it is"
  }
}

/// The arguments of a program that may reach others over a relay.
protocol RelayedArguments: Sendable {
  /// The relays to join.
  var relays: [DialTarget] { get set }
}

extension RelayedArguments {
  /// Whether a relay has to be looked for.
  var searchesForRelay: Bool {
    relays.contains { if case .peer = $0 { true } else { false } }
  }
}

/// Returns whether a person seems to have meant an address, with a number that is not a port: as a name it would be
/// looked for in vain, without a message.
private func isHostWithoutPort(_ name: String) -> Bool {
  guard let colon = name.lastIndex(of: ":"), colon > name.startIndex else { return false }
  let digits = name[name.index(after: colon)...]
  return !digits.isEmpty && digits.allSatisfy { $0.isASCII && $0.isNumber }
}

/// `--relay`.
func relayOption<Arguments: RelayedArguments>(_ help: String) -> Option<Arguments> {
  Option(
    "relay", help: help,
    .value(name: "NAME|PEER|ADDRESS") { (arguments, value) throws(UnacceptableValue) in
      let relay: DialTarget
      do throws(UsageError) {
        relay = try DialTarget(value)
      } catch {
        throw .because("a relay is given by its name, its fingerprint or its address")
      }
      if case .peer(.named(let name)) = relay, isHostWithoutPort(name) {
        throw .because("behind a host stands a port from 1 to 65535; a relay of that name is given by its fingerprint")
      }
      if arguments.relays.contains(relay) { return }
      guard arguments.relays.count < CommandLineLimits.relays else {
        throw .because("at most \(CommandLineLimits.relays) relays can be named")
      }
      arguments.relays.append(relay)
    })
}
