import Piconet

/// A node for one link of `piconet ping` and `piconet cat`, and the way to its far end.
struct PeerLink: Sendable {
  let arguments: LinkArguments
  let environment: ProgramEnvironment
  let console: Console
  /// The command's own.
  let usualSession: String
  /// Of which rights of known peers count.
  let program: String
  /// What a peer that invites us wants, for the question.
  let purpose: String

  var session: String { arguments.session ?? usualSession }

  private var bluetooth: BluetoothLook { BluetoothLook(options: arguments.transport, environment: environment) }

  private var address: DialPlace? { if case .place(let place) = arguments.target { place } else { nil } }

  /// Starts a node, hands it to `body`, and stops it; says what went wrong.
  func run(capacity: Int, _ body: (Node) async -> Void) async {
    guard console.accepts(arguments.transport, address: address) else { return }
    do throws(PiconetError) {
      var configuration = try environment.configuration(
        session: session, name: arguments.name, mode: arguments.listens ? .server : .client,
        transport: arguments.transport, address: address)
      configuration.program = program
      configuration.capacity = capacity
      configuration.openInvitations = CommandLineLimits.questions
      if let bind = arguments.bind {
        configuration.listen = bind.host.isEmpty ? "*:\(bind.port)" : bind.description
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

  /// The peer that was named, once it has accepted; nil: it failed, which was told.
  func reach(_ node: Node) async -> Member? {
    do throws(TransferFailure) {
      return try await PeerConnection(
        node: node, place: try await place(node), console: console, naming: environment.naming
      )
      .open(timeout: arguments.timeout)
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
      known: environment.naming.fingerprints, how: "as PEER", doing: "Connecting to")
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

  /// Listens, and says where; false: it can't, which was told.
  func listen(_ node: Node) async -> Bool {
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

  /// Answers invitations until the task is cancelled.
  func answer(_ node: Node, policy: AcceptPolicy) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        await bluetooth.follow(from: node.listeningAddresses) { obstacle in
          if let obstacle { console.warn(of: obstacle) } else { await tellListening(node) }
        }
      }
      await InvitationDesk(node: node, console: console, policy: policy, purpose: purpose) { environment.naming }.run()
      group.cancelAll()
    }
  }

  func tell(joined member: Member) {
    let peer = member.proven
    console.note(
      "Connected to \(console.describe(peer)) over \(peer.transport)"
    )
  }
}
