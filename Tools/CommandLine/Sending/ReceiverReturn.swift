import Piconet

/// Finds a receiver again after it is gone: its program was killed, its machine restarted, its network changed.
struct ReceiverReturn: Sendable {
  let search: PeerSearch
  let console: Console
  /// How long to wait for it.
  let patience: Duration
  /// Its first place.
  let connection: PeerConnection
  let open: @Sendable (PeerConnection) async throws(TransferFailure) -> Member

  private static let firstPause = Duration.seconds(1)
  private static let longestPause = Duration.seconds(15)

  /// Whether the receiver may come back after this end.
  static func isPossible(after end: TransferFailure) -> Bool {
    end.exitCode == .linkLost && end.word != "version" && end.word != "protocol-broken"
  }

  /// Waits for the same device and connects to it.
  /// - Parameters:
  ///   - key: the device's; nil: whatever answers at the address.
  ///   - gone: the program that is gone, which may be in sight for a while.
  /// - Returns: nil if it has not come in time, says no now, or the task is cancelled.
  func member(_ key: PeerID?, but gone: NodeID?) async -> Member? {
    let name = connection.shownText
    let time = patience >= CommandLineLimits.longestWait ? " (Ctrl-C ends)" : ", for \(HumanFigures.seconds(patience))"
    console.note("\(name) can't be reached: waiting for it\(time)...")
    var waiting = WaitingTime(patience, at: .now)
    var pause = Self.firstPause
    var lastTried = gone
    while !Task.isCancelled, .now < waiting.end {
      do throws(TransferFailure) {
        let planned = min(waiting.end, .now + pause)
        let next = await place(of: key, but: lastTried, until: planned)
        waiting.resumed(at: .now, planned: planned)
        if let next {
          if case .peer(let peer) = next.place { lastTried = peer.id }
          let member = try await open(next)
          console.note("\(name) is there: going on")
          return member
        }
      } catch {
        guard Self.isPossible(after: error) || error.exitCode == .noSuchPeer else {
          console.problem(connection.sentence(error))
          return nil
        }
        // The attempt itself may have taken longer than was left.
        let now = ContinuousClock.now
        let planned = max(now, min(waiting.end, now + pause))
        try? await ContinuousClock().sleep(until: planned)
        waiting.resumed(at: .now, planned: planned)
      }
      // The same program may be reached again by now.
      lastTried = nil
      pause = min(pause * 2, Self.longestPause)
    }
    return nil
  }

  /// Returns where to dial now; nil: no peer with this key is in sight.
  private func place(of key: PeerID?, but tried: NodeID?, until end: ContinuousClock.Instant) async -> PeerConnection? {
    var next = connection
    next.isReturn = true
    if case .address = connection.place {
      // Nothing tells when the receiver listens there again.
      try? await ContinuousClock().sleep(until: end)
      return Task.isCancelled ? nil : next
    }
    let found = await search.wait(atMost: end - .now) { peers in
      peers.first { $0.id.peer == key && $0.id != tried }
    }
    guard let found else { return nil }
    next.place = .peer(found.called(connection.text))
    return next
  }
}
