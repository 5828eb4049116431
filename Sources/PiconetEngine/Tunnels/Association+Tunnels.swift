import PiconetWire

/// Tunnels with one member: those that it relays for us, those that we relay for it, and those from other nodes that it
/// opens to us.
extension Association {
  /// Whether the member may relay for us, to its own members.
  var relaysForUs: Bool { isStaying && capabilities.contains(.relay) && activeLink != nil }

  /// Whether the member can be reached over us.
  var takesTunnels: Bool { isStaying && capabilities.contains(.tunnels) && activeLink != nil }

  /// The number of relays between us and the member; 0 over a link of a real transport.
  var relaysBelow: Int { link?.opening.traits.relayCount ?? 0 }

  /// Returns how many open tunnels to the member this key has caused.
  func openTunnelCount(ledFor opener: PeerID) -> Int { tunnels.count(ledFor: opener) }

  // MARK: Frames

  /// Handles the member's request to be connected to another of our members.
  func receivedOpen(tunnel number: UInt64, to target: NodeID, _ turn: Turn) throws(Breach) -> FrameRequest? {
    guard try append(tunnel: number) else { return nil }
    guard target != node else { throw Breach("a tunnel to itself") }
    return .tunnelAsked(number, to: target, self)
  }

  /// Handles the member's offer to connect us to a member of its own.
  func receivedOffer(tunnel number: UInt64, from remote: NodeID, relays: UInt64, _ turn: Turn) throws(Breach)
    -> FrameRequest?
  {
    guard try append(tunnel: number) else { return nil }
    guard remote != node, remote != turn.node else { throw Breach("a tunnel from itself, or from us to ourselves") }
    return .tunnel(.offered(number, from: remote, relays: Int(relays)), over: self)
  }

  /// Adds a tunnel that the remote side has numbered.
  /// - Returns: false if the frame does not count.
  private func append(tunnel number: UInt64) throws(Breach) -> Bool {
    guard try speaksAsMember() else { return false }
    guard tunnels.isRemote(number), tunnels[number] == nil else {
      throw Breach("tunnel \(number) is open, or not for that side to open")
    }
    guard tunnels.count(ours: false) < WireLimits.tunnels else {
      throw Breach("more than \(WireLimits.tunnels) tunnels", .limitExceeded)
    }
    tunnels.append(Tunnel(number: number, isOurs: false, end: nil, relaysBelow: relaysBelow))
    return true
  }

  func receivedOpened(tunnel number: UInt64, relays: UInt64, _ turn: Turn) throws(Breach) -> FrameRequest? {
    guard let tunnel = try known(number) else { return nil }
    guard tunnel.isOurs, tunnel.phase == .asked || tunnel.isClosed else {
      throw Breach("opens a tunnel that nobody has asked it for")
    }
    if tunnel.isClosed { return nil }
    open(tunnel, turn)
    switch tunnel.end {
    case .own(let id, let remote): return .tunnel(.opened(id, to: remote, relays: Int(relays)), over: self)
    case .relayed(let place): turn.relay(RelayStep(.opened, to: place, from: self.place(of: tunnel)))
    case nil: break
    }
    return nil
  }

  func receivedData(tunnel number: UInt64, _ bytes: Bytes, _ turn: Turn) throws(Breach) {
    guard let tunnel = try known(number) else { return }
    guard try tunnel.take(bytes.count) else { return oweCredit(of: tunnel, turn) }
    switch tunnel.end {
    case .own(let id, _): turn.add(.tunnelReceived(id, bytes))
    case .relayed(let place): turn.relay(RelayStep(.data(bytes), to: place, from: self.place(of: tunnel)))
    case nil: break
    }
  }

  /// Owes credit for data of a closing tunnel. The data is dropped, and the sender is told that it was passed on.
  private func oweCredit(of tunnel: Tunnel, _ turn: Turn) {
    if tunnel.givesCredit, tunnel.hasUnreported { tunnels.oweCredit(of: tunnel.number) }
    turn.flush(link)
  }

  /// Takes credit for a tunnel. The frame may have crossed our goodbye and the other side's answer to it. Then the
  /// frame does not count.
  func receivedCredit(tunnel number: UInt64, consumed: UInt64, limit: UInt64, _ turn: Turn) throws(Breach) {
    guard try speaksAsMember(), let tunnel = tunnels[number], !tunnel.isClosed else { return }
    let count = try tunnel.credit(consumed: consumed, limit: limit)
    if case .own(let id, _) = tunnel.end, count > 0, turn.handles.handle(of: id) != nil {
      turn.add(.tunnelPassedOn(id, byteCount: count))
    }
    tunnels.enqueue(tunnel)
    turn.flush(link)
  }

  func receivedClose(tunnel number: UInt64, _ ending: Ending, _ turn: Turn) throws(Breach) {
    guard let tunnel = try known(number) else { return }
    if !tunnel.isClosed { sendAboutTunnel(.closeTunnel(tunnel: number, .left, detail: ""), turn) }
    tunnels.forget(number)
    if !tunnel.isClosed { tellEnd(of: tunnel, ending, turn) }
  }

  /// - Returns: nil if the frame does not count.
  private func known(_ number: UInt64) throws(Breach) -> Tunnel? {
    guard try speaksAsMember() else { return nil }
    guard let tunnel = tunnels[number] else { throw Breach("a word about tunnel \(number), which is not open") }
    return tunnel
  }

  // MARK: Our own tunnels

  /// Opens a tunnel by `frame`, which gets its number.
  /// - Returns: the number; nil if as many are open as allowed.
  func openTunnel(_ end: Tunnel.End, _ turn: Turn, _ frame: (UInt64) -> Frame) -> UInt64? {
    guard let number = tunnels.freeNumber() else { return nil }
    tunnels.append(Tunnel(number: number, isOurs: true, end: end, relaysBelow: relaysBelow))
    if case .own(let id, _) = end { turn.handles.append(id, number, in: self) }
    sendAboutTunnel(frame(number), turn)
    return number
  }

  /// Accepts a tunnel that the other side has asked for, or has opened to us.
  func accept(tunnel number: UInt64, _ end: Tunnel.End, relays: Int, _ turn: Turn) {
    guard let tunnel = tunnels[number], tunnel.phase == .asked else { return }
    tunnel.lead(to: end)
    if case .own(let id, _) = end { turn.handles.append(id, number, in: self) }
    sendAboutTunnel(.tunnelOpened(tunnel: number, relays: UInt64(relays)), turn)
    open(tunnel, turn)
  }

  /// Opens a tunnel. The other side is told at once how much it may send ahead.
  private func open(_ tunnel: Tunnel, _ turn: Turn) {
    tunnel.open()
    guard tunnel.hasUntoldWindow else { return }
    tunnels.oweCredit(of: tunnel.number)
    turn.flush(link)
  }

  /// Connects a tunnel to its other half. It opens once the other half does.
  /// - Returns: false if the tunnel no longer exists.
  func relay(tunnel number: UInt64, to place: TunnelPlace) -> Bool {
    guard let tunnel = tunnels[number] else { return false }
    tunnel.lead(to: .relayed(place))
    return true
  }

  /// Limits how much each side of a tunnel that we relay may send ahead.
  func bound(tunnel number: UInt64, window: Int) { tunnels[number]?.bound(window: window) }

  func write(_ bytes: Bytes, toTunnel number: UInt64, _ turn: Turn) {
    guard let tunnel = tunnels[number], tunnel.takesBytes else { return }
    tunnel.write(bytes)
    tunnels.enqueue(tunnel)
    turn.flush(link)
  }

  /// Notes that bytes that came through a tunnel have been passed on or read.
  func tunnelConsumed(_ number: UInt64, _ count: Int, _ turn: Turn) {
    guard tunnels[number]?.consume(count) == true else { return }
    tunnels.oweCredit(of: number)
    turn.flush(link)
  }

  /// Closes a tunnel from this side. Nothing more is written to it.
  /// - Parameter isAborted: whether the queued bytes are discarded.
  func close(tunnel number: UInt64, _ ending: Ending, isAborted: Bool, _ turn: Turn) {
    guard let tunnel = tunnels[number], tunnel.takesBytes else { return }
    if case .own(let id, _) = tunnel.end { turn.handles.remove(id) }
    if !isAborted, tunnel.queuedCount > 0 {
      tunnel.finish(ending)
      tunnels.enqueue(tunnel)
      return oweCredit(of: tunnel, turn)
    }
    tunnel.close()
    sendAboutTunnel(.closeTunnel(tunnel: number, ending.reason, detail: ending.detail), turn)
  }

  // MARK: Transmission

  /// - Returns: how many frames were written.
  func transmitTunnels(on link: Link, room: Int, into bytes: inout [UInt8], _ turn: Turn) -> UInt64 {
    let start = bytes.count
    bytes.reserveCapacity(start + min(room, tunnels.queuedCount + 1024))
    let framed = tunnels.frame(into: &bytes, room: room, frameLimit: min(frameLimit, link.bulkFrameLimit))
    counts.sent(tunnels: framed.frames, bytes: bytes.count - start)
    for (tunnel, count) in framed.taken {
      switch tunnel.end {
      case .own(let id, _): if turn.handles.handle(of: id) != nil { turn.add(.tunnelTaken(id, byteCount: count)) }
      case .relayed(let place): turn.relay(RelayStep(.passed(count), to: place, from: self.place(of: tunnel)))
      case nil: break
      }
    }
    return framed.frames
  }

  // MARK: Endings

  /// Closes tunnels at once, because we are leaving or because the link now goes over more relays than before.
  func closeTunnels(_ ending: Ending, _ turn: Turn, where isOver: (Tunnel) -> Bool = { _ in true }) {
    for number in tunnels.numbers {
      guard let tunnel = tunnels[number], !tunnel.isClosed, isOver(tunnel) else { continue }
      tellEnd(of: tunnel, ending, turn)
      tunnel.close()
      sendAboutTunnel(.closeTunnel(tunnel: number, ending.reason, detail: ending.detail), turn)
    }
  }

  /// Closes tunnels that were opened when the association's link went over fewer relays than now. They would lie over
  /// themselves, or over too many relays.
  func closeDeepTunnels(_ turn: Turn) {
    let below = relaysBelow
    closeTunnels(Ending(.unreachable, .link, "the way to the relay has changed"), turn) { $0.relaysBelow < below }
  }

  /// Drops all tunnels, because the association is over.
  func dropTunnels(_ ending: Ending, _ turn: Turn) {
    for number in tunnels.numbers {
      guard let tunnel = tunnels[number], !tunnel.isClosed else { continue }
      tellEnd(of: tunnel, ending, turn)
    }
    tunnels.removeAll()
  }

  private func tellEnd(of tunnel: Tunnel, _ ending: Ending, _ turn: Turn) {
    switch tunnel.end {
    case .own(let id, _):
      guard turn.handles.handle(of: id) != nil else { return }
      turn.handles.remove(id)
      turn.add(.tunnelEnded(id, ending.tunnelFailure))
    case .relayed(let place): turn.relay(RelayStep(.closed(ending), to: place, from: self.place(of: tunnel)))
    case nil: break
    }
  }

  private func place(of tunnel: Tunnel) -> TunnelPlace { TunnelPlace(node: node, number: tunnel.number) }

  /// Sends a frame about a tunnel. After our `leave` no sequenced frame is sent.
  private func sendAboutTunnel(_ frame: Frame, _ turn: Turn) {
    if leaving?.isTold != true { send(frame, turn) }
  }
}
