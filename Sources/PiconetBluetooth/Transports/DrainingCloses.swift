import CPiconetSystem
import Glibc
import PiconetEngine
import PiconetRuntime
import PiconetSDP

/// Sockets whose orderly close is under way.
///
/// Closing a channel discards the bytes that the kernel has not given to the controller yet: the request to disconnect
/// overtakes them (L2CAP's signalling has the highest priority), and the queue is purged. So the socket is closed when
/// its queue is empty. The kernel reports half-empty queues, not empty ones; the rest is polled at short intervals.
/// Bounded in time and number.
final class DrainingCloses {
  private static let turn: Duration = .milliseconds(4)
  /// Used while only answers over silent links are awaited.
  private static let lateTurn: Duration = .milliseconds(100)

  private struct Entry {
    var socket: BluetoothSocket
    var mode: SocketSettings.Mode?
    var deadline: Instant
    var connect: Connect?
    /// Whether its answer has not come in time, although there is a link.
    var isLate = false
  }

  /// A connect that is no longer wanted.
  private struct Connect {
    var device: BluetoothAddress
    /// When it is closed even if there is a link.
    var end: Instant
  }

  private let loop: EventLoop
  private let time: Duration
  private let limit: Int
  private var entries: [Entry] = []
  private var timer: LoopTimer?
  private var whenEmpty: [() -> Void] = []

  init(loop: EventLoop, time: Duration, limit: Int) {
    self.loop = loop
    self.time = time
    self.limit = limit
    timer = LoopTimer(loop: loop) { [weak self] in self?.closeFinished() }
  }

  deinit { for entry in entries { Self.close(entry.socket, mode: entry.mode) } }

  var count: Int { entries.count }

  /// Takes over a socket that is no longer watched, and closes it when its queue is empty, perhaps at once.
  func take(_ socket: BluetoothSocket, mode: SocketSettings.Mode?) {
    let entry = Entry(socket: socket, mode: mode, deadline: loop.now + time)
    guard entries.count < limit, mustWait(entry) else { return Self.close(socket, mode: mode) }
    append(entry)
  }

  /// Adds an entry. It may be done in a moment, however long the others take.
  private func append(_ entry: Entry) {
    entries.append(entry)
    if entries.count == 1 || entries.dropLast().allSatisfy(\.isLate) { timer?.set(after: Self.turn) }
  }

  /// How long to wait for the answer to a connect that is no longer wanted. While a link exists the limit is longer: as
  /// long as Linux itself waits.
  private static let answerTime: Duration = .seconds(1)
  private static let linkedAnswerTime: Duration = .seconds(40)

  /// Takes over a socket in the middle of its connect.
  ///
  /// If it is closed before the remote side has answered, Linux can't tell that side to forget the channel, and gives
  /// the same channel number to the next connect. The remote side then refuses that one, since the number is in use:
  /// for 40 s, or as long as there is a link. An answer takes a few milliseconds over a link that is up, and may be
  /// late if the link was silent for a while; if there is no link yet, closing ends the paging.
  func takeConnecting(_ socket: BluetoothSocket, to device: BluetoothAddress) {
    // RFCOMM does not number connections, and allows one at a time per channel: the next connect would wait for this
    // one.
    let end = loop.now + (socket.kind == .rfcomm ? Self.answerTime : Self.linkedAnswerTime)
    let entry = Entry(
      socket: socket, mode: nil, deadline: loop.now + Self.answerTime, connect: Connect(device: device, end: end))
    // Half of the room is reserved for sockets that have something to send. A stranded connect would strand the next
    // one, too.
    guard entries.count(where: { $0.connect != nil }) < limit / 2, entries.count < limit, mustWait(entry),
      !socket.isStranded(to: device)
    else {
      return Self.close(socket, mode: socket.mode)
    }
    append(entry)
  }

  private func mustWait(_ entry: Entry) -> Bool {
    if entry.connect != nil {
      return !entry.socket.hasEnded && loop.now < entry.deadline && entry.socket.failure != nil
    }
    guard let memory = entry.socket.memory, memory.unsent > 0 else { return false }
    return !entry.socket.hasEnded && loop.now < entry.deadline
  }

  /// Gives more time to connects whose answer is still to come over a link.
  private func extend() {
    for index in entries.indices {
      guard let connect = entries[index].connect, loop.now >= entries[index].deadline, loop.now < connect.end,
        entries[index].socket.hasLink(to: connect.device), !entries[index].socket.isStranded(to: connect.device)
      else { continue }
      entries[index].deadline = min(loop.now + Self.answerTime, connect.end)
      entries[index].isLate = true
    }
  }

  private func closeFinished() {
    extend()
    entries.removeAll { entry in
      if mustWait(entry) { return false }
      Self.close(entry.socket, mode: entry.mode)
      return true
    }
    if entries.isEmpty { return tellEmpty() }
    timer?.set(after: entries.allSatisfy(\.isLate) ? Self.lateTurn : Self.turn)
  }

  private func tellEmpty() {
    let bodies = whenEmpty
    whenEmpty = []
    for body in bodies { body() }
  }

  /// Calls `body` as soon as no socket waits, perhaps at once. From now on no connect is waited for longer than
  /// `answerTime`.
  func onceEmpty(_ body: @escaping () -> Void) {
    for index in entries.indices {
      guard var connect = entries[index].connect else { continue }
      connect.end = min(connect.end, loop.now + Self.answerTime)
      entries[index].connect = connect
    }
    if entries.isEmpty { body() } else { whenEmpty.append(body) }
  }

  /// Closes all now.
  func closeAll() {
    for entry in entries { Self.close(entry.socket, mode: entry.mode) }
    entries = []
    timer?.set(nil)
    tellEmpty()
  }

  /// Closes a socket without holding up the loop.
  static func close(_ socket: BluetoothSocket, mode: SocketSettings.Mode?) {
    // In ERTM close(2) waits up to ten seconds for acknowledgements, whatever the socket's flags say.
    guard mode == .enhancedRetransmission else { return socket.close() }
    var thread = pthread_t()
    let argument = UnsafeMutableRawPointer(bitPattern: Int(socket.descriptor))
    let error = piconet_thread_start(
      &thread, "bt-close",
      { descriptor in
        Glibc.close(Int32(Int(bitPattern: descriptor)))
        return nil
      }, argument)
    if error == 0 { pthread_detach(thread) } else { socket.close() }
  }
}
