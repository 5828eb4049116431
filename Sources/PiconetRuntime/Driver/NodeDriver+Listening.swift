import PiconetEngine
import PiconetWire

/// The peers for which a driver listens, and the advertisement of that.
extension NodeDriver {
  enum Listening { case nobody, expected, everybody }

  /// Listens for all peers, on every transport.
  /// - Returns: why some transports can't listen.
  public func listen() -> [TransportKind: LinkFailure] {
    listening = .everybody
    process(.availabilityChanged(true))
    return listenOnAll()
  }

  /// Listens only for expected peers, as long as there are any. These are members that may have lost their links, at
  /// the addresses that they know, and peers by their keys. Strangers are refused.
  public func hide() {
    guard listening == .everybody else { return }
    beginToExpect()
    stopListeningUnlessExpecting()
  }

  private func beginToExpect() {
    listening = .expected
    // Also if no peer was let in before: an engine begins open.
    process(.availabilityChanged(false))
  }

  private func stopListeningUnlessExpecting() {
    if listening == .expected, !engine.expectsAnybody { stopListening() }
  }

  /// Once a round: listens as long as an expected peer may dial.
  func followExpectations() {
    defer { tellExpecting() }
    stopListeningUnlessExpecting()
    listenForMembers()
  }

  /// Listens if a member may have to come back. It runs before the flush, so that the member is told where together
  /// with the frame that makes it a member. The check is skipped if this node has never had members.
  func listenForMembers() {
    // Members that have begun while none could come back may do so once the disconnect timeout is longer.
    guard listening == .nobody, engine.membershipsBegun != seenMemberships, engine.expectsMembers else { return }
    seenMemberships = engine.membershipsBegun
    beginToExpect()
    // A node that can't listen dialled its members, and will again.
    _ = listenOnAll()
  }

  /// Tells the radio to accept connections while a hidden node still expects a peer.
  private func tellExpecting() {
    guard radio != nil else { return }
    let isExpecting = listening == .expected && (wasReachedByRadio || engine.expectsPeers)
    guard isExpecting != toldExpecting else { return }
    toldExpecting = isExpecting
    for discovery in discoveries { discovery.setExpecting(isExpecting) }
  }

  /// Listens if a peer is expected and this node does not listen yet, so that it can come.
  /// - Returns: why some transports can't.
  public func listenForExpected() -> [TransportKind: LinkFailure] {
    if listening == .nobody, engine.expectsPeers { beginToExpect() }
    return listening == .nobody ? [:] : listenOnAll()
  }

  private func listenOnAll() -> [TransportKind: LinkFailure] {
    var failures: [TransportKind: LinkFailure] = [:]
    for transport in transports where transport.listeningPort == nil {
      do throws(LinkFailure) {
        try transport.listen { [self] endpoint in accepted(endpoint) }
      } catch {
        failures[transport.kind] = error
      }
    }
    tellListening()
    return failures
  }

  /// Tells members where this node listens: they dial it there when a link is lost.
  private func tellListening() {
    process(.listeningChanged(ListeningPort.list(listeningPorts)))
    // The round may be over, and with it its flush.
    loop.executeLater {}
  }

  /// The port on which each transport listens.
  public var listeningPorts: [TransportKind: UInt16] {
    var ports: [TransportKind: UInt16] = [:]
    for transport in transports { ports[transport.kind] = transport.listeningPort }
    return ports
  }

  func stopListening() {
    listening = .nobody
    wasReachedByRadio = false
    for transport in transports { transport.stopListening() }
    tellListening()
  }

  func advertise(_ advertisement: NodeAdvertisement?) {
    self.advertisement = advertisement
    for discovery in discoveries { discovery.advertise(advertisement) }
  }

  /// Notes that an adapter came or went: transports that could not listen may do so now, and others must learn the new
  /// ports.
  func listeningChanged() {
    guard !isEnding, listening != .nobody else { return }
    _ = listenOnAll()
    guard var advertisement, advertisement.ports != listeningPorts else { return }
    advertisement.ports = listeningPorts
    advertise(advertisement)
  }

  /// The addresses where all peers may dial, or those that are expected by their keys.
  public var listeningAddresses: [TransportAddress] {
    listening == .everybody || engine.expectsPeers ? transports.flatMap { $0.listeningAddresses } : []
  }
}
