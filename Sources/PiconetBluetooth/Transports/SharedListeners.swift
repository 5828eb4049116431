import PiconetEngine
import PiconetRuntime

/// The listening sockets of one host. Nodes with different sessions share one PSM: a dialler names the session that it
/// wants in its ClientHello (Documentation/wire-format.md, section 1). Two nodes with the same session have separate
/// ones, since a dialler can't say which it means. Confined to the loop.
final class SharedListeners {
  private let loop: EventLoop
  private let readName: ([UInt8]) -> ServerNameFinding
  private var listeners: [SharedListener] = []

  init(loop: EventLoop, readName: @escaping ([UInt8]) -> ServerNameFinding) {
    self.loop = loop
    self.readName = readName
  }

  /// - Parameters:
  ///   - name: the name of the node's session in diallers' ClientHellos; nil: it does not share.
  ///   - arrived: called when a device has connected, to any of the nodes.
  ///   - accepted: gets each link.
  func listen(
    at place: ListeningPlace, as name: String?, _ configuration: BluetoothTransportConfiguration,
    closes: DrainingCloses, arrived: @escaping () -> Void, accepted: @escaping (BluetoothLink) -> Void
  ) throws(LinkFailure) -> ListeningGuest {
    listeners.removeAll { $0.end == nil }
    let guest = SharedListener.Guest(name: name?.lowercased(), closes: closes, arrived: arrived, accepted: accepted)
    if let name = guest.name, let listener = listeners.first(where: { $0.takes(name, at: place) }) {
      return listener.add(guest)
    }
    let listener = try SharedListener(loop: loop, place: place, configuration, readName: readName)
    listeners.append(listener)
    return listener.add(guest)
  }
}

/// One node's share of a listening socket, until it closes or releases it.
final class ListeningGuest {
  private var listener: SharedListener?

  fileprivate init(of listener: SharedListener) { self.listener = listener }

  deinit { close() }

  var end: SocketEnd? { listener?.end }

  /// Closes the share; the last one closes the socket.
  func close() {
    listener?.remove(ObjectIdentifier(self))
    listener = nil
  }
}

/// A listening socket, and the nodes that listen there.
private final class SharedListener {
  /// The most undecided links at a time, as many as a driver secures (`LinkLimits`). To make room, the oldest link of
  /// the device with the most is ended: a device with many links pushes out only its own.
  private static let arrivalLimit = 128

  private let loop: EventLoop
  private let place: ListeningPlace
  private let configuration: BluetoothTransportConfiguration
  private let readName: ([UInt8]) -> ServerNameFinding
  private var listener: BluetoothListener?
  /// The nodes, in the order in which they came.
  private var guests: [(id: ObjectIdentifier, guest: Guest)] = []
  private var arrivals: [Arrival] = []

  struct Guest {
    let name: String?
    let closes: DrainingCloses
    let arrived: () -> Void
    let accepted: (BluetoothLink) -> Void
  }

  init(
    loop: EventLoop, place: ListeningPlace, _ configuration: BluetoothTransportConfiguration,
    readName: @escaping ([UInt8]) -> ServerNameFinding
  ) throws(LinkFailure) {
    self.loop = loop
    self.place = place
    self.configuration = configuration
    self.readName = readName
    listener = try BluetoothListener(
      socket: try BluetoothSocket.listening(at: place, backlog: configuration.backlog), loop: loop,
      configuration: configuration
    ) { [weak self] in self?.accepted($0) }
  }

  var end: SocketEnd? { listener?.end }

  func takes(_ name: String, at place: ListeningPlace) -> Bool {
    place == self.place && place.port == 0 && !guests.contains { $0.guest.name == nil || $0.guest.name == name }
  }

  func add(_ guest: Guest) -> ListeningGuest {
    let listening = ListeningGuest(of: self)
    guests.append((ObjectIdentifier(listening), guest))
    return listening
  }

  func remove(_ id: ObjectIdentifier) {
    guests.removeAll { $0.id == id }
    guard guests.isEmpty else { return }
    listener?.close()
    listener = nil
    for arrival in arrivals { arrival.link.close(abort: true) }
    arrivals = []
  }

  private func accepted(_ connection: BluetoothSocket) {
    // A node may leave when it is told.
    for guest in guests.map(\.guest) { guest.arrived() }
    guard let first = guests.first?.guest else { return connection.close() }
    // A link that can't be watched closes its socket as it is released.
    guard
      let link = try? BluetoothLink(
        socket: connection, loop: loop, configuration: configuration, closes: first.closes)
    else { return }
    // A single node gets every link: the dialler's hello says whether it is the one meant.
    if guests.count == 1 { return first.accepted(link) }
    if arrivals.count >= Self.arrivalLimit { crowded() }
    let arrival = Arrival(link: link, loop: loop, readName: readName) { [weak self] in self?.decided($0, $1) }
    arrivals.append(arrival)
    arrival.begin()
  }

  private func crowded() {
    let counts = Dictionary(grouping: arrivals, by: \.link.traits.remoteHost).mapValues(\.count)
    let most = counts.max { $0.value < $1.value }?.key
    if let arrival = arrivals.first(where: { $0.link.traits.remoteHost == most }) { decided(arrival, .failed) }
  }

  private func decided(_ arrival: Arrival, _ outcome: Arrival.Outcome) {
    arrivals.removeAll { $0 === arrival }
    arrival.end()
    let guest: Guest? =
      switch outcome {
      // Another implementation may not name its session: its hello says whether the first node is the one meant.
      case .unnamed: guests.first?.guest
      case .named(let name): guests.first { $0.guest.name == name.lowercased() }?.guest
      case .failed: nil
      }
    guard let guest else {
      if case .named = outcome { return refuse(arrival.link) }
      return arrival.link.close(abort: true)
    }
    arrival.link.closes = guest.closes
    guest.accepted(arrival.link)
  }

  /// Refuses a link because no node here has the wanted session: TLS has the alert unrecognized_name for that (RFC
  /// 8446, section 6.2), in a separate record.
  private func refuse(_ link: BluetoothLink) {
    let alert: [UInt8] = [21, 3, 3, 0, 2, 2, 112]
    _ = alert.withUnsafeBytes { link.write($0) }
    link.close(abort: false)
  }
}

/// A link whose node is not known yet.
private final class Arrival: LinkEndpointHandler {
  enum Outcome {
    case named(String)
    /// It is not TLS, or names no session.
    case unnamed
    /// It has ended, or has not sent enough in time.
    case failed
  }

  /// As long as a driver gives a handshake (`LinkLimits`).
  private static let patience: Duration = .seconds(10)
  /// The most pieces; the name comes in one piece, or a few.
  private static let pieceLimit = 64
  private static let pieceSize = 4096

  let link: BluetoothLink
  private var bytes: [UInt8] = []
  private var piecesLeft = Arrival.pieceLimit
  private let readName: ([UInt8]) -> ServerNameFinding
  private let decided: (Arrival, Outcome) -> Void
  private var timer: LoopTimer?

  init(
    link: BluetoothLink, loop: EventLoop, readName: @escaping ([UInt8]) -> ServerNameFinding,
    decided: @escaping (Arrival, Outcome) -> Void
  ) {
    self.link = link
    self.readName = readName
    self.decided = decided
    timer = LoopTimer(loop: loop) { [weak self] in
      guard let self else { return }
      self.decided(self, .failed)
    }
  }

  func begin() {
    timer?.set(after: Self.patience)
    link.setHandler(self)
    link.setReadiness(read: true, write: false)
  }

  /// Hands the link on: the bytes read from it will be read again.
  func end() {
    timer?.set(nil)
    timer = nil
    link.setReadiness(read: false, write: false)
    link.putBack(bytes)
  }

  func linkIsReady(read: Bool, write: Bool) {
    let piece = withUnsafeTemporaryAllocation(byteCount: Self.pieceSize, alignment: 1) { buffer -> LinkRead in
      let outcome = link.read(into: buffer)
      if case .bytes(let count) = outcome { bytes += buffer[..<count] }
      return outcome
    }
    switch piece {
    case .bytes: break
    case .wouldBlock: return
    case .end, .failed: return decided(self, .failed)
    }
    piecesLeft -= 1
    switch readName(bytes) {
    case .name(let name): decided(self, .named(name))
    case .none: decided(self, .unnamed)
    case .incomplete: if piecesLeft == 0 { decided(self, .failed) }
    }
  }
}
