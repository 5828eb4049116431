import PiconetEngine
import PiconetWire

/// Another peer of a one-sided engine, with a link of its own, played frame by frame.
final class OneSidedLink {
  private let one: OneSided
  let far: NodeID
  let link: LinkID

  /// - Parameters:
  ///   - byte: that of the peer's id; below 9, so that it is the smaller node, and no other peer's.
  ///   - incarnation: of a peer that comes again and again.
  init(_ one: OneSided, peer byte: UInt8, incarnation: UInt64 = 0) {
    self.one = one
    far = incarnation == 0 ? node(byte) : NodeID(peer: peer(byte), incarnation: Incarnation(rawValue: incarnation))
    link = LinkID(rawValue: 100 + UInt64(byte) + incarnation * 256)
  }

  /// The remote side dials, invites, and is accepted.
  @discardableResult
  func connect(_ capabilities: Capabilities = .removal) -> OneSidedLink {
    var opening = one.opening()
    opening.peer = far.peer
    one.side.take(.linkOpened(link, opening))
    receive(
      .hello(
        Hello(
          incarnation: far.incarnation, name: "further", sessionID: "test", capabilities: capabilities)))
    receive(.associate(AssociationID(high: 3, low: link.rawValue), received: 0))
    receive(.invite(Invite(timeout: 10_000, commitment: someCommitment)))
    one.side.command(.answerInvitation(far, accept: true, .declined))
    receive(.admit)
    return self
  }

  @discardableResult
  func receive(_ frames: Frame...) -> Outcome {
    one.side.take(.received(link, frames.flatMap { FrameEncoder.encode($0) }[...]))
  }
}
