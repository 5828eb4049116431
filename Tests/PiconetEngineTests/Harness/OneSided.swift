import PiconetEngine
import PiconetWire

/// An engine whose remote side is played by the test, frame by frame.
final class OneSided {
  let side: Side
  let far: NodeID
  let link = LinkID(rawValue: 1)
  /// The traits of the link that `opening` opens.
  var traits = someTraits

  /// - Parameter isSmaller: whether the engine has the smaller id and decides which link is used.
  init(isSmaller: Bool = false, _ configuration: EngineConfiguration = configuration()) {
    side = Side(node(isSmaller ? 1 : 9), configuration)
    far = node(isSmaller ? 9 : 1)
  }

  func opening(dial: DialID? = nil) -> LinkOpening {
    LinkOpening(dial: dial, peer: far.peer, traits: traits)
  }

  func hello(_ change: (inout Hello) -> Void = { _ in }) -> Frame {
    var hello = Hello(incarnation: far.incarnation, name: "far", sessionID: "test")
    change(&hello)
    return .hello(hello)
  }

  @discardableResult
  func receive(_ frames: Frame...) -> Outcome {
    side.take(.received(link, frames.flatMap { FrameEncoder.encode($0) }[...]))
  }

  /// The remote side dials and proves itself.
  @discardableResult
  func open(_ change: (inout Hello) -> Void = { _ in }) -> Outcome {
    var outcome = side.take(.linkOpened(link, opening()))
    outcome += receive(hello(change))
    return outcome
  }

  /// Makes an association, over a link that the remote side dialled.
  func associated(_ change: (inout Hello) -> Void = { _ in }) -> OneSided {
    open(change)
    if far < side.node {
      receive(.associate(AssociationID(high: 1, low: 2), received: 0))
    } else {
      receive(.associated(received: 0, begun: 1))
    }
    return self
  }

  /// The remote side invites, we accept, and it admits us.
  func connected(_ change: (inout Hello) -> Void = { _ in }) -> OneSided {
    _ = associated(change)
    receive(.invite(Invite(timeout: 10_000, commitment: someCommitment)))
    side.command(.answerInvitation(far, accept: true, .declined))
    receive(.admit)
    return self
  }

  /// Invites the remote side by an address. By default the command, and so the reply, has the id 1.
  @discardableResult
  func invite(timeout: Duration = .seconds(30), id: UInt64 = 1) -> Outcome {
    side.command(.invite(.addresses([tcp("far")], expected: nil), context: [], timeout: timeout), id: id)
  }
}
