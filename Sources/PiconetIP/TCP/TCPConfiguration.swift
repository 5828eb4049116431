import PiconetEngine
import PiconetRuntime

/// The settings of TCP. The defaults are for peers on a local network.
public struct TCPConfiguration: Sendable, Hashable {
  /// Where to listen. Nil: on every address of both families, with a port chosen by the system. With `*` as the host:
  /// on every address, with that port. Otherwise a numeric address, or `localhost` for 127.0.0.1. Port 0: chosen by the
  /// system.
  public var listen: HostPort?
  /// The race over a peer's addresses.
  public var race = AddressRace.Configuration()
  /// The most host names looked up in one dial.
  public var nameLimit = 4
  /// The most bytes that wait unsent in the kernel before a link stops being writable (TCP_NOTSENT_LOWAT), so that a
  /// small message does not wait behind megabytes of a file. Nil: the system's own limit, which is the send buffer.
  public var unsentLimit: Int32? = 128 * 1024
  /// How many written bytes may be in the kernel or on their way at any time.
  var flight = FlightBound.Configuration()
  /// The kernel's own probes of an idle link: seconds before the first, seconds between, and how many go unanswered
  /// before the link fails. Only a backstop: Piconet's heartbeat notices sooner.
  public var keepAliveIdle: Int32 = 30
  public var keepAliveInterval: Int32 = 10
  public var keepAliveCount: Int32 = 3
  /// How long sent bytes may go unacknowledged (TCP_USER_TIMEOUT). Nil: the system's own limit, about 15 minutes. Not
  /// set by default: Linux also counts the time while the remote side's window is closed, so a peer with a slow disk
  /// would be cut off; Piconet's heartbeat can tell the two apart.
  public var userTimeout: Duration?
  /// Connections that the kernel keeps until we accept them.
  public var backlog: Int32 = 128
  /// The most connections accepted in one round of the loop.
  public var acceptBatch = 16
  /// How long accepting pauses when no descriptor is left; doubles up to ten times this.
  public var acceptRetry: Duration = .milliseconds(100)
  /// How long an orderly close waits for the remote side's end, see `LingeringCloses`.
  public var lingerTime: Duration = .seconds(1)
  /// The most closes that wait in this way at a time.
  public var lingerLimit = 64

  public init() {}
}
