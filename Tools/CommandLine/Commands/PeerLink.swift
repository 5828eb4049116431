import Piconet

/// The node of `piconet ping`, `cat` and `relay`, and its way to the other end.
struct PeerLink: Sendable {
  let arguments: LinkArguments
  let environment: ProgramEnvironment
  let console: Console
  /// The command's own session.
  let usualSession: String
  /// The program whose rights of known peers count.
  let program: String
  /// The wish of a peer that invites us, worded for the question.
  let purpose: String
  /// The program that has to run on the peer, for a person who has found none; nil: this command with --listen.
  var counterpart: String?
  /// Whether a name that a program advertises for its objects means its device, too.
  var takesAdvertisedNames = false
  /// How much the node relays for its members; nil: nothing.
  var relaying: RelayQuotas?

  private var right: String { "push:\(program)" }

  var session: String { arguments.session ?? usualSession }

  private var bluetooth: BluetoothLook { BluetoothLook(options: arguments.transport, environment: environment) }

  private var address: DialPlace? { if case .place(let place) = arguments.target { place } else { nil } }

  /// Starts a node, hands it to `body`, and stops it; reports failures.
  func run(capacity: Int, _ body: (Node) async -> Void) async {
    guard console.accepts(arguments.transport, address: address) else { return }
    do throws(PiconetError) {
      var configuration = try environment.configuration(
        session: session, name: arguments.name, mode: arguments.listens ? .server : .client,
        transport: arguments.transport, address: address)
      configuration.program = program
      configuration.capacity = capacity
      // With several places, strangers of one address or key can't hold theirs against others, nor any stranger against
      // a known device. Idleness is hardly a reason to give way, since a member that waits at a relay is idle. A
      // conversation has a single place, which goes to no one else.
      if arguments.listens, capacity > 2 || relaying != nil {
        configuration.idleMemberTimeout = CommandLineLimits.longestWait
      }
      configuration.openInvitations = CommandLineLimits.questions
      if let relaying {
        configuration.relaying = relaying
        configuration.discoveryInfo = RelayMark.info
        configuration.greeting = RelayMark.relayGreeting
      }
      if let place = arguments.listen {
        configuration.listen = place.host.isEmpty ? "*:\(place.port)" : place.description
      } else if environment.isLoopbackOnly {
        configuration.listen = "127.0.0.1:0"
      }
      if address != nil { configuration.discovers = false }
      let node = try await Node(configuration)
      await console.tellDamage(node)
      await body(node)
      await node.stop()
    } catch {
      fail(TransferFailure(error, on: .sender))
    }
  }

  func fail(_ failure: TransferFailure) {
    console.fail(failure.word, console.safe(failure.message), failure.exitCode, event: false)
  }

  // MARK: Reaching a peer

  /// Returns the peer that was named, once it has accepted; nil: it failed, which has been reported.
  func reach(_ node: Node) async -> Member? {
    do throws(TransferFailure) {
      let code = try await arguments.code?.wanted(console)
      let connection = PeerConnection(
        node: node, place: try await place(node), console: console, naming: environment.naming, code: code)
      let member = try await connection.open(timeout: arguments.timeout)
      if member.proven.hasProvenCode {
        await console.remember(member.proven, in: node, rights: [.send], address: address?.description)
      }
      return member
    } catch {
      fail(Task.isCancelled ? Delivery.interrupted : error)
      return nil
    }
  }

  private func place(_ node: Node) async throws(TransferFailure) -> PeerConnection.Place {
    if let place = address { return .address(place, place.kinds(arguments.transport.choice)) }
    do throws(PiconetError) {
      try await node.setAvailable(true)
    } catch {
      throw TransferFailure(error, on: .sender)
    }
    let search = PeerSearch(node: node, console: console, session: session, naming: environment.naming)
    let choice = PeerChoice(
      search: search, console: console, timeout: arguments.timeout, session: session, bluetooth: bluetooth,
      known: environment.naming.fingerprints, how: "as PEER", doing: "Connecting to",
      receiver: counterpart ?? "piconet \(program) --listen", title: "Connect to",
      takesAdvertisedNames: takesAdvertisedNames)
    do throws(NoChoice) {
      guard case .peer(let recipient) = arguments.target else { return .peer(try await choice.only()) }
      guard let peer = try await choice.peers(for: recipient).first else {
        throw NoChoice(word: "no-such-peer", message: "the peer has just gone", exitCode: .noSuchPeer)
      }
      return .peer(peer)
    } catch {
      throw TransferFailure(error)
    }
  }

  // MARK: Being reached

  /// Listens, and reports where; false: it can't, which has been reported.
  func listen(_ node: Node) async -> Bool {
    if let codes = codes(node), await !codes.begin() { return false }
    do throws(PiconetError) {
      try await node.setAvailable(true)
    } catch {
      let message = error.detail.isEmpty ? TransferFailure(error, on: .receiver).message : error.detail
      console.fail("can-not-listen", message, .usage, event: false)
      return false
    }
    await tellListening(node)
    return true
  }

  private func tellListening(_ node: Node) async {
    let addresses = await node.listeningAddresses.map { "\($0.kind) \($0.text)" }
    console.note(
      "Listening as '\(console.safe(node.name))' (\(node.id.peer.shortDescription)) on "
        + (addresses.isEmpty ? "no address" : addresses.joined(separator: ", ")))
  }

  /// The peers that it accepts besides those that prove the code.
  private var policy: AcceptPolicy { arguments.code == nil ? arguments.accept.possible(console, right: right) : .known }

  private func codes(_ node: Node) -> CodeDesk? {
    arguments.code.map { CodeDesk(node: node, console: console, option: $0, typedInto: "piconet \(program) --code") }
  }

  /// Answers invitations until the task is cancelled, or a code that was given is spent.
  /// - Returns: whether the code is spent, which has been reported.
  func answer(_ node: Node) async -> Bool {
    let policy = policy
    return await withTaskGroup(of: Bool.self) { ends in
      ends.addTask {
        await invitations(node, policy)
        return false
      }
      if let codes = codes(node) {
        ends.addTask {
          await codes.run()
          return !Task.isCancelled
        }
      }
      let isOver = await ends.next() ?? false
      ends.cancelAll()
      return isOver
    }
  }

  private func invitations(_ node: Node, _ policy: AcceptPolicy) async {
    await withTaskGroup(of: Void.self) { group in
      let network = NetworkNotes(console: console, look: bluetooth, isFound: true)
      group.addTask { await network.follow(node) }
      group.addTask { await network.tellLack() }
      group.addTask {
        await bluetooth.follow(from: node.listeningAddresses) { obstacle in
          if let obstacle { console.warn(of: obstacle) } else { await tellListening(node) }
        }
      }
      await InvitationDesk(node: node, console: console, policy: policy, purpose: purpose, right: right) {
        environment.naming
      }.run()
      group.cancelAll()
    }
  }

  /// - Parameter suppressed: the number of unreported arrivals before; nil: this one is not reported either.
  func welcome(_ member: Member, in node: Node, suppressed: Int? = 0) async {
    let peer = member.proven
    if let suppressed { console.noteConnected(peer, environment.naming, suppressed: suppressed) }
    if peer.hasProvenCode { await console.remember(peer, in: node, rights: [.push, .send]) }
  }
}
