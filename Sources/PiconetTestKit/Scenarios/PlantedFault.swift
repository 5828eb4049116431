/// A fault put into the world on purpose, to show that the invariants find it.
public enum PlantedFault: String, Sendable, CaseIterable {
  /// A link loses one byte of a piece now and then.
  case linkDropsByte
  /// A link delivers a piece twice now and then.
  case linkDuplicatesBytes
  /// A link delivers two pieces in the wrong order now and then.
  case linkSwapsBytes
  /// A store says that it verified a resource without looking; the bytes are damaged.
  case storeLies
  /// A reply gets lost between the engine and the application.
  case replyLost
  /// A reply comes twice.
  case replyRepeated
  /// The driver delivers an event about messages twice.
  case deliveryRepeated
  /// The driver says that nothing was ever transmitted to the kernel on a link.
  case transmittedForgotten
  /// The driver delivers unreliable messages in the wrong order.
  case unreliableSwapped
  /// A change of a peer's state gets lost on its way to the application.
  case stateLost
  /// A change of a peer's state comes twice.
  case stateRepeated
  /// The first message on a link that an association has taken over isn't sent.
  case resendLost
  /// That message is sent twice.
  case resendRepeated
  /// A transfer continues on another link one byte too early.
  case wrongPosition
  /// The driver delivers bytes of a stream twice now and then.
  case streamBytesRepeated
  /// The end of a stream gets lost between the engine and the application.
  case streamEndLost
  /// An actor system is given a frame about calls twice now and then.
  case callRepeated
  /// A frame about calls gets lost on its way to the actor system.
  case callLost
  /// One side is given a different reason for the end of a member.
  case reasonChanged
  /// The driver never closes a source.
  case sourceLeaks
  /// The engine is told to resume a transfer when the application pauses it.
  case pauseIgnored
  /// The driver says at once that the kernel has taken what goes to a hostile node, and keeps it until that node reads.
  case memoryGrows
  /// Acknowledgements get lost, and engines go on all the same, however much they keep.
  case acknowledgementsLost
  /// Engines take messages of any length, and a hostile node sends the beginning of one that has no end.
  case endlessMessage
  /// Channels in tunnels check no record, so that a relay that tampers is not found out.
  case tamperingUnseen
}
