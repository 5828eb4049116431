/// A fault put into the world on purpose, to show that the invariants detect it.
public enum PlantedFault: String, Sendable, CaseIterable {
  /// A link loses one byte of a piece from time to time.
  case linkDropsByte
  /// A link delivers a piece twice from time to time.
  case linkDuplicatesBytes
  /// A link delivers two pieces in the wrong order from time to time.
  case linkSwapsBytes
  /// A store reports a verified resource without checking it; the bytes are damaged.
  case storeLies
  /// A reply gets lost between the engine and the application.
  case replyLost
  /// A reply comes twice.
  case replyRepeated
  /// The driver delivers an event about messages twice.
  case deliveryRepeated
  /// The driver never reports that bytes were transmitted to the kernel on a link.
  case transmittedForgotten
  /// The driver delivers unreliable messages in the wrong order.
  case unreliableSwapped
  /// A change of a peer's state gets lost on its way to the application.
  case stateLost
  /// A change of a peer's state comes twice.
  case stateRepeated
  /// The first message on a link to which an association has moved is not sent.
  case resendLost
  /// That message is sent twice.
  case resendRepeated
  /// A transfer continues on another link one byte too early.
  case wrongPosition
  /// The driver delivers bytes of a stream twice from time to time.
  case streamBytesRepeated
  /// The end of a stream gets lost between the engine and the application.
  case streamEndLost
  /// An actor system is given a frame about calls twice from time to time.
  case callRepeated
  /// A frame about calls gets lost on its way to the actor system.
  case callLost
  /// One side is given a different reason for the end of a membership.
  case reasonChanged
  /// The driver never closes a source.
  case sourceLeaks
  /// The engine is told to resume a transfer when the application pauses it.
  case pauseIgnored
  /// The driver reports at once that the kernel has taken the bytes for a hostile node, and keeps them until that node
  /// reads.
  case memoryGrows
  /// Acknowledgements get lost, and engines continue however much they keep.
  case acknowledgementsLost
  /// Engines accept messages of any length, and a hostile node sends the beginning of an endless one.
  case endlessMessage
  /// Channels in tunnels check no record, so that a tampering relay is not detected.
  case tamperingUnseen
}
