import Foundation
import Piconet
import Synchronization

/// Invitations of both sides, and custom discovery, up to the connection of two sessions.
extension SessionRun {
  private var node: Node {
    get async throws { try await starting.value.node }
  }

  // MARK: Beginning

  /// - Parameter ended: called once the attempt has ended, or if it can't begin.
  func invite(
    _ peer: MCPeerID, context: [UInt8]?, within patience: Duration, ended: @escaping @Sendable () -> Void,
    by converse: @escaping @Sendable (InvitationPaper) async throws -> Meeting
  ) {
    begin(peer, ended: ended) { [self] attempt in
      let node = try await node
      let seconds = UInt32(clamping: patience.components.seconds)
      let paper = InvitationPaper(
        card: core.card, fingerprint: node.id.peer, ticket: Ticket(), patience: seconds, context: context)
      let meeting = try await converse(paper)
      onQueue { [self] in
        core.tell(ledger.accepted(attempt, of: peer))
        end(attempt, after: core.patience.meeting)
      }
      try await meet(node, meeting, attempt)
    }
  }

  /// Notes that the program has accepted an invitation.
  /// - Parameters:
  ///   - ended: called once the answer was given, or if it won't be given: this session may have been left.
  ///   - answer: tells the inviter where this session is.
  func accept(
    _ paper: InvitationPaper, ended: @escaping @Sendable () -> Void,
    _ answer: @escaping @Sendable (MeetingPlace) async throws -> Void
  ) {
    let peer = paper.card.peer
    begin(peer, isAccepted: true, ended: ended) { [self] attempt in
      let node = try await node
      doors.withLock {
        $0.open(paper.ticket, Doors.Door(attempt: attempt, peer: peer, fingerprint: paper.fingerprint))
      }
      try await node.expect(paper.fingerprint, for: core.patience.meeting + .seconds(30))
      try await answer(
        MeetingPlace(
          card: core.card, fingerprint: node.id.peer, ticket: paper.ticket, addresses: await node.listeningAddresses))
      settleIfConnected(attempt)
    }
  }

  /// Returns the place of this session, for a peer that was found by other means.
  func place(for peer: MCPeerID) async throws -> MeetingPlace {
    let node = try await node
    let ticket = Ticket()
    doors.withLock { $0.give(ticket, to: peer) }
    // The node listens from now on; the peer is let in once the program wants it.
    try await node.expect(node.id.peer, for: .seconds(600))
    return MeetingPlace(
      card: core.card, fingerprint: node.id.peer, ticket: ticket, addresses: await node.listeningAddresses)
  }

  func connect(_ peer: MCPeerID, at place: MeetingPlace) {
    begin(peer, isAccepted: true, isCustom: true) { [self] attempt in
      let node = try await node
      doors.withLock {
        $0.openGiven(Doors.Door(attempt: attempt, peer: peer, fingerprint: place.fingerprint))
      }
      try await node.expect(place.fingerprint, for: core.patience.meeting + .seconds(30))
      try await meet(node, Meeting(place: place, addresses: place.addresses), attempt)
    }
  }

  func cancelConnect(_ peer: MCPeerID) {
    doors.withLock { $0.takeBack(from: peer) }
    onQueue { [self] in
      for (number, attempt) in attempts where attempt.isCustom && attempt.peer == peer {
        attempt.work?.cancel()
        fail(number, MCError(.cancelled, "cancelConnectPeer was called"))
      }
    }
  }

  /// Reports an attempt that could not even begin.
  func refuse(_ peer: MCPeerID, _ error: MCError) { begin(peer) { _ in throw error } }

  private func begin(
    _ peer: MCPeerID, isAccepted: Bool = false, isCustom: Bool = false, ended: @escaping @Sendable () -> Void = {},
    _ work: @escaping @Sendable (Int) async throws -> Void
  ) {
    core.queue.async { [self] in
      if isOver { return ended() }
      let number = ledger.begin(peer)
      attempts[number] = Attempt(peer: peer, isCustom: isCustom)
      if isAccepted {
        core.tell(ledger.accepted(number, of: peer))
        end(number, after: core.patience.meeting)
      }
      // The delegate may have ended the run just now.
      guard var attempt = attempts[number] else { return ended() }
      attempt.work = Task { [self] in
        defer { ended() }
        do {
          try await work(number)
        } catch {
          let error = MCError.wrapping(error)
          onQueue { [self] in fail(number, error) }
        }
      }
      attempts[number] = attempt
    }
  }

  // MARK: Meeting

  /// Goes to the place of the peer's session, until it lets us in, and becomes a member with it.
  private func meet(_ node: Node, _ meeting: Meeting, _ attempt: Int) async throws {
    let end = ContinuousClock.now + core.patience.meeting
    let endIfFull = ContinuousClock.now + Self.fullPatience
    var pause = Duration.milliseconds(200)
    var refusedSince: ContinuousClock.Instant?
    guard !meeting.addresses.isEmpty else {
      throw MCError(.notConnected, "the peer's session has no address that this device reaches")
    }
    // The peer's session may come to us as well.
    try await node.expect(meeting.place.fingerprint, for: core.patience.meeting + .seconds(30))
    while true {
      do throws(PiconetError) {
        let member = try await node.invite(
          at: meeting.addresses, expecting: meeting.place.fingerprint, context: meeting.place.ticket.context,
          timeout: max(end - .now, .seconds(1)))
        return arrived(attempt, member)
      } catch {
        // The peer's session came to us meanwhile, or a member has introduced us: the event sequence reports it, or has
        // reported it.
        if error.code == .alreadyConnected || error.code == .inProgress { return settleIfConnected(attempt) }
        // The other program may not have called yet, in custom discovery, or the two invitations have crossed.
        if isFinal(error, for: meeting.place.card.peer) { throw error }
        // The peer listened there when it told its place.
        refusedSince = Self.isRefused(error) ? refusedSince ?? .now : nil
        if let refusedSince, .now - refusedSince > Self.refusedPatience {
          throw MCError(.notConnected, "the peer's session was left", underlying: error)
        }
        if ContinuousClock.now + pause > (error.code == .full ? endIfFull : end) { throw error }
      }
      try await Task.sleep(for: pause)
      pause = min(pause * 2, .seconds(4))
      if await isSettled(attempt) { return }
    }
  }

  /// How long its host may refuse connections there.
  private static let refusedPatience = Duration.seconds(1)

  private static func isRefused(_ error: PiconetError) -> Bool {
    error.code == .unreachable && !error.failures.isEmpty
      && error.failures.allSatisfy { $0.transport == .tcp && $0.failure.code == .refused }
  }

  /// How long the other side's session may be full although it does not have the peers that fill it.
  private static let fullPatience = Duration.seconds(3)

  /// Returns whether another try would end the same way. When eight peers invite one another, the other side may be
  /// full for a moment without the peers that fill it. Only a session with as many others as it may have is full for
  /// good.
  private func isFinal(_ error: PiconetError, for peer: MCPeerID) -> Bool {
    if error.code == .full {
      return core.connectedPeers.count { $0 != peer } >= kMCSessionMaximumNumberOfPeers - 1
    }
    return [.identity, .version, .invalidArgument, .limitExceeded, .cancelled, .shuttingDown].contains(error.code)
  }

  /// Answers the node of another session that comes to us.
  func answer(_ invitation: Invitation) {
    let door = (try? Ticket(context: invitation.context)).flatMap { ticket in doors.withLock { $0.open[ticket] } }
    guard let door, door.fingerprint == invitation.peer.fingerprint else {
      Task { await invitation.decline(.notWanted) }
      return
    }
    Task { [self] in
      do throws(PiconetError) {
        arrived(door.attempt, try await invitation.accept())
      } catch {
        guard isFinal(error, for: door.peer) else { return }
        let error = MCError(error)
        onQueue { [self] in fail(door.attempt, error) }
      }
    }
  }

  // MARK: Ending, on the queue

  private func isSettled(_ attempt: Int) async -> Bool {
    await withCheckedContinuation { continuation in
      core.queue.async { [self] in continuation.resume(returning: isOver || attempts[attempt] == nil) }
    }
  }

  /// Notes that the attempt has led to a member, which the event sequence reports, or has reported.
  private func arrived(_ number: Int, _ member: Member) {
    let id = member.id
    onQueue { [self] in
      guard var attempt = attempts[number] else { return }
      if guests[id] != nil {
        settle(number)
      } else if departed.contains(id) {
        fail(number, core.reason(of: attempt.peer) ?? MCError(.notConnected))
      } else {
        attempt.awaited = id
        attempts[number] = attempt
      }
    }
  }

  /// Settles an attempt whose peer was reported as connected before it began: no event settles it.
  private func settleIfConnected(_ number: Int) {
    onQueue { [self] in
      guard let attempt = attempts[number] else { return }
      if guests.values.contains(where: { $0.isConnected && $0.peer == attempt.peer }) { settle(number) }
    }
  }

  /// Notes that the attempt has succeeded, one way or another.
  func settle(_ number: Int) {
    guard let attempt = attempts.removeValue(forKey: number) else { return }
    attempt.deadline?.cancel()
    doors.withLock { $0.close(number) }
    ledger.arrived(number, of: attempt.peer)
  }

  private func end(_ number: Int, after patience: Duration) {
    guard var attempt = attempts[number] else { return }
    attempt.deadline?.cancel()
    attempt.deadline = Task { [self] in
      guard (try? await Task.sleep(for: patience)) != nil else { return }
      onQueue { [self] in fail(number, MCError(.timedOut, "there was no connection within \(patience)")) }
    }
    attempts[number] = attempt
  }

  func fail(_ number: Int, _ error: MCError) {
    guard let attempt = attempts.removeValue(forKey: number) else { return }
    attempt.deadline?.cancel()
    doors.withLock { $0.close(number) }
    // A peer that is connected by other means has no error.
    if ledger.isUnderWay(number, to: attempt.peer) { core.note(error, of: attempt.peer) }
    core.tell(ledger.failed(number, of: attempt.peer))
  }
}
