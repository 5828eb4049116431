/// A fault put into the world on purpose, to show that the invariants find it.
public enum PlantedFault: String, Sendable, CaseIterable {
  /// A link loses one byte of a piece now and then.
  case linkDropsByte
  /// A link delivers a piece twice now and then.
  case linkDuplicatesBytes
  /// A link delivers two pieces in the wrong order now and then.
  case linkSwapsBytes
  /// A store says that it verified a resource, and did not look; its bytes are damaged.
  case storeLies
  /// A reply gets lost between the engine and the application.
  case replyLost
  /// A reply comes twice.
  case replyRepeated
  /// The driver hands an event about messages over twice.
  case deliveryRepeated
  /// The driver says that nothing of a link was ever transmitted to the kernel.
  case transmittedForgotten
  /// The driver hands unreliable messages over in the wrong order.
  case unreliableSwapped
  /// A change of a peer's state gets lost on its way to the application.
  case stateLost
  /// A change of a peer's state comes twice.
  case stateRepeated
  /// The first message upon a link that an association has taken over does not go.
  case resendLost
  /// It goes twice.
  case resendRepeated
  /// A transfer goes on upon another link from a byte too early.
  case wrongPosition
  /// The driver hands bytes of a stream over twice now and then.
  case streamBytesRepeated
  /// The end of a stream gets lost between the engine and the application.
  case streamEndLost
  /// One side is told of another reason for the end of a member.
  case reasonChanged
  /// The driver closes no source.
  case sourceLeaks
  /// The engine is told that a transfer goes on when the application lets it rest.
  case pauseIgnored
}
