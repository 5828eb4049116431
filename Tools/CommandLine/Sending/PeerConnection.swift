import Piconet

/// The way from a peer, or an address, to a member that files can be sent to.
struct PeerConnection: Sendable {
  enum Place: Sendable {
    case peer(Peer)
    /// With the transports to try, in order of preference.
    case address(DialPlace, [TransportKind])
  }

  private static let hintTime = Duration.milliseconds(700)

  let node: Node
  let place: Place
  let console: Console
  /// nil: nobody is asked, and nothing is remembered.
  var contact: FirstContact?
  /// Whose keys were confirmed at addresses.
  var naming = PeerNaming.nobody

  /// What a person calls it; may be a peer's own words.
  var text: String {
    switch place {
    case .peer(let peer): peer.name
    case .address(let address, _): address.description
    }
  }

  /// Where it is and what went wrong there, for people; may hold a peer's own words.
  func sentence(_ failure: TransferFailure) -> String {
    switch place {
    case .peer: "\(text): \(failure.message)"
    case .address: "\(text): \(failure.message(behind: text))"
    }
  }

  /// Of the key that has to answer, where that is known.
  var fingerprint: String? {
    switch place {
    case .peer(let peer): peer.id.peer.description
    case .address(let address, _): expected(at: address)?.description
    }
  }

  private func expected(at address: DialPlace) -> PeerID? {
    contact?.expected(at: address.description) ?? naming.known.entry(at: address.description)?.id
  }

  /// Invites the peer and waits until it has accepted. The short code is shown as soon as there is one: a person on the other
  /// side may compare it before answering.
  func open(timeout: Duration) async throws(TransferFailure) -> Member {
    if let refusal = contact?.refusal(place) { throw refusal }
    // Told by a task of its own: the node's loop, which reports the proof, must not wait for a terminal.
    let (proofs, proof) = AsyncStream<ProvenMember>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let told = Task {
      for await peer in proofs {
        tell(peer)
        // Somebody may be asked there, which takes a while: silence would look like a program that hangs.
        try? await ContinuousClock().sleep(for: Self.hintTime)
        if !Task.isCancelled { console.note("Waiting for \(console.safe(peer.name)) to accept...") }
      }
    }
    let outcome = await invite(timeout: timeout) { proof.yield($0) }
    proof.finish()
    told.cancel()
    await told.value
    let member: Member
    do throws(PiconetError) {
      member = try outcome.get()
    } catch {
      let failure = TransferFailure(error, on: .sender)
      let seen = contact?.failed(place, failure) ?? failure
      throw Task.isCancelled ? Delivery.interrupted : seen
    }
    try await contact?.settle(member, place, node)
    return member
  }

  private func tell(_ peer: ProvenMember) {
    let fingerprint = peer.fingerprint.description
    let transport = "\(peer.transport)"
    console.tell(
      .connected(
        Event.Connected(
          peer: fingerprint, name: peer.name, transport: transport, fingerprint: fingerprint, code: peer.shortCode)))
    console.note("Connected to \(console.describe(peer)) over \(transport), code \(peer.shortCode)")
  }

  private func invite(
    timeout: Duration, _ proven: @escaping @Sendable (ProvenMember) -> Void
  ) async -> Result<Member, PiconetError> {
    do throws(PiconetError) {
      switch place {
      case .peer(let peer):
        console.tell(
          .connecting(
            Event.Connecting(
              peer: fingerprint, name: peer.name, transports: peer.transports.map { "\($0)" },
              address: peer.addresses.first?.text)))
        return .success(try await node.invite(peer, timeout: timeout, proven: proven))
      case .address(let address, let kinds):
        console.tell(
          .connecting(
            Event.Connecting(
              peer: nil, name: nil, transports: kinds.map { "\($0)" }, address: address.description)))
        return .success(
          try await node.connect(
            to: address.description, expecting: expected(at: address), timeout: timeout,
            proven: proven))
      }
    } catch {
      return .failure(error)
    }
  }
}
