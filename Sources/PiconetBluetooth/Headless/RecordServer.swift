import CPiconetSystem
import Glibc
import PiconetEngine
import PiconetRuntime
import PiconetSDP

/// Serves a node's record, or those of several, to every reader that connects to the record channel; confined to the
/// loop.
///
/// At most 16 readers at a time, each for at most five seconds; further ones are closed at once and may come again.
public final class RecordServer: DescriptorHandler {
  /// The most readers at a time.
  public static let readerLimit = 16

  /// The PSM that it listens on.
  public let psm: UInt16
  private let loop: EventLoop
  private let socket: BluetoothSocket
  private let timeLimit: Duration
  private var watch: DescriptorWatch?
  private var sdu: [UInt8]
  private var readers: [ObjectIdentifier: RecordServerReader] = [:]
  private var reached: (() -> Void)?
  /// Ends a pause in accepting.
  private var retry: LoopTimer?
  private static let retryDelay = Duration.seconds(1)

  /// Listens.
  /// - Parameters:
  ///   - kind: l2cap, or le; not rfcomm.
  ///   - adapter: the address of the adapter on which it listens.
  ///   - psm: nil: the first of the fixed PSMs that is free, see `RecordChannel`; 0: one that the system chooses.
  ///   - timeLimit: how long a reader may keep its place.
  public convenience init(
    _ record: NodeRecord, of service: BluetoothUUID, kind: SocketKind, adapter: BluetoothAddress, psm: UInt16? = nil,
    loop: EventLoop, timeLimit: Duration = .seconds(5)
  ) throws(LinkFailure) {
    try self.init(
      Self.bundle(record, of: service), kind: kind, adapter: adapter, psm: psm, loop: loop, timeLimit: timeLimit)
  }

  /// Listens with the records of several nodes; see above.
  public init(
    _ bundle: RecordBundle, kind: SocketKind, adapter: BluetoothAddress, psm: UInt16? = nil, loop: EventLoop,
    timeLimit: Duration = .seconds(5)
  ) throws(LinkFailure) {
    guard kind.isPacket else { throw LinkFailure(.notAvailable, "the record channel is one of L2CAP") }
    socket = try Self.listen(kind, on: adapter, psms: psm.map { [$0] } ?? RecordChannel.psms(of: kind))
    sdu = bundle.bytes
    self.loop = loop
    self.timeLimit = timeLimit
    self.psm = socket.localEnd?.port ?? psm ?? 0
    do {
      watch = try loop.watch(socket.descriptor, for: .read, handler: self)
    } catch {
      socket.close()
      throw LinkFailure(listening: error, "the record channel")
    }
    retry = LoopTimer(loop: loop) { [weak self] in self?.watch?.setInterest(.read) }
  }

  deinit { close() }

  /// Serves another record from now on.
  public func update(_ record: NodeRecord, of service: BluetoothUUID) throws(LinkFailure) {
    update(try Self.bundle(record, of: service))
  }

  /// Serves other records from now on.
  public func update(_ bundle: RecordBundle) { sdu = bundle.bytes }

  /// Sets the function that is called on the loop each time a device has connected.
  func setReachedHandler(_ handler: @escaping () -> Void) { reached = handler }

  /// Closes everything. Idempotent.
  public func close() {
    guard let watch else { return }
    watch.cancel()
    self.watch = nil
    retry?.set(nil)
    socket.close()
    for reader in readers.values { reader.close() }
    readers = [:]
  }

  /// The number of readers that have a place.
  public var readerCount: Int { readers.count }

  /// Called by the loop.
  public func descriptorIsReady(_ readiness: Readiness) {
    for _ in 0..<Self.readerLimit {
      guard watch != nil else { return }
      var address = sockaddr_storage()
      let descriptor = piconet_accept(socket.descriptor, &address)
      if descriptor < 0 {
        if [EAGAIN, EINTR, ECONNABORTED].contains(errno) { return }
        // While there is no descriptor for a new connection, the socket would be readable again at once.
        watch?.setInterest([])
        retry?.set(after: Self.retryDelay)
        return
      }
      let connection = BluetoothSocket(kind: socket.kind, descriptor: descriptor)
      reached?()
      // One write is one SDU, and nothing else is ever written: it fits, or the reader is not a node of Piconet.
      guard readers.count < Self.readerLimit, send(descriptor, sdu, sdu.count, Int32(MSG_NOSIGNAL)) == sdu.count else {
        connection.close()
        continue
      }
      do {
        let reader = try RecordServerReader(connection, loop: loop, timeLimit: timeLimit) { [weak self] reader in
          self?.readers[ObjectIdentifier(reader)] = nil
        }
        readers[ObjectIdentifier(reader)] = reader
      } catch {
        connection.close()
      }
    }
  }

  private static func listen(
    _ kind: SocketKind, on adapter: BluetoothAddress, psms: [UInt16]
  ) throws(LinkFailure) -> BluetoothSocket {
    var failure = LinkFailure(.notAvailable, "the record channel has no number")
    for psm in psms {
      do throws(SystemError) {
        let socket = try BluetoothSocket(kind)
        do throws(SystemError) {
          try socket.bind(to: SocketEnd(device: adapter, port: psm))
          try socket.listen(backlog: 8)
          return socket
        } catch {
          socket.close()
          throw error
        }
      } catch {
        failure = LinkFailure(listening: error, "the record channel")
        if error.number != EADDRINUSE { break }
      }
    }
    throw failure
  }

  private static func bundle(_ record: NodeRecord, of service: BluetoothUUID) throws(LinkFailure) -> RecordBundle {
    do {
      let list = try record.attributes(of: service)
      return RecordBundle.bundles(of: [list], limit: RecordChannel.largest)[0]
    } catch {
      throw LinkFailure(.notAvailable, "\(error)")
    }
  }
}

/// A reader that was sent the record and has not closed yet. If the server closed first, bytes still under way would be
/// lost.
private final class RecordServerReader: DescriptorHandler {
  private let connection: BluetoothSocket
  private let ended: (RecordServerReader) -> Void
  private var watch: DescriptorWatch?
  private var timer: LoopTimer?

  init(
    _ connection: BluetoothSocket, loop: EventLoop, timeLimit: Duration, ended: @escaping (RecordServerReader) -> Void
  ) throws(SystemError) {
    self.connection = connection
    self.ended = ended
    watch = try loop.watch(connection.descriptor, for: .read, handler: self)
    timer = LoopTimer(loop: loop) { [weak self] in self?.end() }
    timer?.set(after: timeLimit)
  }

  // Readable means that it has closed, or is sending something unasked.
  func descriptorIsReady(_ readiness: Readiness) { end() }

  private func end() {
    close()
    ended(self)
  }

  func close() {
    guard let watch else { return }
    watch.cancel()
    self.watch = nil
    timer?.set(nil)
    connection.close()
  }
}

extension LinkFailure {
  /// Describes why a socket can't listen, or an adapter can't be used.
  init(listening error: SystemError, _ what: String) {
    let failure = LinkFailure(bluetooth: error)
    self.init(failure.code, "\(what): \(failure.detail)")
  }
}
