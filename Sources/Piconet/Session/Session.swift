import PiconetEngine
import PiconetWire

/// The group of peers that accepted one another.
public struct Session: Sendable {
  let core: NodeCore

  /// The members as they are now, in the order of names.
  public var members: [Member] { core.members }

  /// Who joins and leaves, each told once, in order. At most 4,096 changes wait for a reader; then the oldest go.
  public var membership: Happenings<MembershipChange> { Happenings(queue: core.membership) }

  /// Messages from all members.
  public var messages: Messages { Messages(core: core) }

  /// Resources that members offer; each has to be answered. One that ends before anybody has taken it is taken back.
  public var offers: Happenings<IncomingOffer> { Happenings(queue: core.offers) }

  /// Sends one message to several members, or to all. It goes to each as `Member.send` says; the content is shared, not copied.
  /// - Throws: the first member's error that is not its leaving; the others still get the message.
  public func send(
    _ bytes: some Sequence<UInt8>, to members: [Member]? = nil, mode: DeliveryMode = .reliable
  ) async throws(PiconetError) {
    let slice = Array(bytes)[...]
    var failure: PiconetError?
    for member in members ?? self.members {
      do throws(PiconetError) {
        try await member.send(slice, mode: mode)
      } catch {
        if failure == nil { failure = error }
      }
    }
    if let failure { throw failure }
  }
}
