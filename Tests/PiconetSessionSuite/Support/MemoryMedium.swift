import PiconetEngine
import PiconetRuntime
import PiconetWire
import Synchronization

@testable import Piconet

/// Where the nodes of one test meet in memory: which of them listen, advertise and search, and the faults of the links.
final class MemoryMedium: Sendable {
  private struct State {
    var nextNumber: UInt16 = 1
    var listeners: [UInt16: MemoryTransport] = [:]
    var wires: [MemoryWire] = []
    var discoveries: [MemoryDiscovery] = []
    var advertised: [ObjectIdentifier: Sighting] = [:]
    var sessionIDs: [ObjectIdentifier: String] = [:]
    var searching: [ObjectIdentifier: String] = [:]
    var isPluggedIn = true
    var isSilent = false
    var transports: [MemoryTransport] = []
  }

  private let shape: MemoryWire.Shape
  private let state = Mutex(State())

  init(_ shape: MemoryWire.Shape) { self.shape = shape }

  /// What a node's configuration uses beside the real transports.
  @Sendable func parts(loop: EventLoop) -> NodeConfiguration.AdditionalParts {
    let (transport, discovery) = (MemoryTransport(self, loop), MemoryDiscovery(self, loop))
    state.withLock {
      $0.transports.append(transport)
      $0.discoveries.append(discovery)
    }
    return NodeConfiguration.AdditionalParts(transports: [transport], discoveries: [discovery])
  }

  // MARK: Links

  /// - Returns: nil while nothing is plugged in.
  func listen(_ transport: MemoryTransport) -> UInt16? {
    state.withLock { state in
      guard state.isPluggedIn else { return nil }
      defer { state.nextNumber += 1 }
      state.listeners[state.nextNumber] = transport
      return state.nextNumber
    }
  }

  func stopListening(_ number: UInt16) { state.withLock { $0.listeners[number] = nil } }

  /// The dialler's end of a new link; the other end is on its way to the listener.
  func connect(_ loop: EventLoop, to number: UInt16) -> MemoryLink? {
    state.withLock { state in
      guard let listener = state.listeners[number] else { return nil }
      var shape = shape
      shape.seed &+= UInt64(state.wires.count)
      let ends = MemoryWire.connect(
        shape, loop, listener.loop, nearAddress: "memory", farAddress: MemoryTransport.text(number))
      state.wires.removeAll(where: \.isOver)
      state.wires.append(ends.wire)
      if state.isSilent { ends.wire.setSilent(true) }
      listener.loop.execute { listener.accept(ends.far) }
      return ends.near
    }
  }

  // MARK: Faults

  /// Silences the links that there are and those made meanwhile, or ends the silence.
  func setSilent(_ isSilent: Bool) {
    let wires = state.withLock { state in
      state.isSilent = isSilent
      return state.wires
    }
    for wire in wires { wire.setSilent(isSilent) }
  }

  func cut() { for wire in state.withLock({ $0.wires }) { wire.cut() } }

  /// Links of which at least one end is still open.
  var linkCount: Int { state.withLock { $0.wires.count { !$0.isOver } } }

  /// Takes the adapter away, so that no node can listen, or gives it back and says so.
  func setPluggedIn(_ isPluggedIn: Bool) {
    let transports = state.withLock { state in
      state.isPluggedIn = isPluggedIn
      return state.transports
    }
    for transport in transports { transport.loop.execute { transport.listeningChanged() } }
  }

  // MARK: Discovery

  func advertise(_ source: MemoryDiscovery, _ advertisement: NodeAdvertisement?) {
    state.withLock { state in
      let id = ObjectIdentifier(source)
      let old = state.advertised[id]
      let sessionID = advertisement?.sessionID ?? state.sessionIDs[id]
      let sighting = advertisement.map { advertisement in
        Sighting(
          peer: advertisement.peer, incarnation: advertisement.incarnation, name: advertisement.name,
          info: advertisement.info,
          addresses: (advertisement.ports[.simulated]).map {
            [TransportAddress(kind: .simulated, text: MemoryTransport.text($0))]
          } ?? [])
      }
      state.advertised[id] = sighting
      state.sessionIDs[id] = sessionID
      let report: DiscoveryReport
      if let sighting {
        report = .seen(sighting)
      } else if let old {
        report = .gone(old.peer, old.incarnation)
      } else {
        return
      }
      for other in state.discoveries where other !== source && state.searching[ObjectIdentifier(other)] == sessionID {
        other.loop.execute { other.report(report) }
      }
    }
  }

  func search(_ source: MemoryDiscovery, sessionID: String?) {
    state.withLock { state in
      state.searching[ObjectIdentifier(source)] = sessionID
      guard let sessionID else { return }
      for other in state.discoveries where other !== source && state.sessionIDs[ObjectIdentifier(other)] == sessionID {
        guard let sighting = state.advertised[ObjectIdentifier(other)] else { continue }
        source.loop.execute { source.report(.seen(sighting)) }
      }
    }
  }

  func remove(_ source: MemoryDiscovery) {
    advertise(source, nil)
    state.withLock { state in
      state.searching[ObjectIdentifier(source)] = nil
      state.discoveries.removeAll { $0 === source }
    }
  }
}

/// Dials and listens in memory.
final class MemoryTransport: Transport, @unchecked Sendable {
  // Sendable is right: what changes is used on the loop only.
  let kind = TransportKind.simulated
  let loop: EventLoop
  private let medium: MemoryMedium
  private var accepted: ((any LinkEndpoint) -> Void)?
  private var changed: (() -> Void)?
  private(set) var listeningPort: UInt16?

  init(_ medium: MemoryMedium, _ loop: EventLoop) {
    self.medium = medium
    self.loop = loop
  }

  static func text(_ number: UInt16) -> String { "memory:\(number)" }

  func dial(
    _ addresses: [TransportAddress], completion: @escaping (Result<any LinkEndpoint, LinkFailure>) -> Void
  ) -> any DialCancellation {
    let dial = Dial(completion)
    loop.executeLater { [medium, loop] in
      guard !dial.isOver else { return }
      for address in addresses {
        if let number = address.text.split(separator: ":").last.flatMap({ UInt16($0) }),
          let link = medium.connect(loop, to: number)
        {
          return dial.end(.success(link))
        }
      }
      dial.end(.failure(LinkFailure(.refused, "nobody listens on \(addresses)")))
    }
    return dial
  }

  private final class Dial: DialCancellation {
    private var completion: ((Result<any LinkEndpoint, LinkFailure>) -> Void)?
    init(_ completion: @escaping (Result<any LinkEndpoint, LinkFailure>) -> Void) { self.completion = completion }
    var isOver: Bool { completion == nil }
    func end(_ result: Result<any LinkEndpoint, LinkFailure>) {
      defer { completion = nil }
      completion?(result)
    }
    func cancel() { end(.failure(LinkFailure(.cancelled))) }
  }

  func listen(_ accepted: @escaping (any LinkEndpoint) -> Void) throws(LinkFailure) {
    guard let number = medium.listen(self) else { throw LinkFailure(.notAvailable, "nothing is plugged in") }
    self.accepted = accepted
    listeningPort = number
  }

  var listeningAddresses: [TransportAddress] {
    listeningPort.map { [TransportAddress(kind: .simulated, text: Self.text($0))] } ?? []
  }

  func stopListening() {
    if let listeningPort { medium.stopListening(listeningPort) }
    listeningPort = nil
    accepted = nil
  }

  func setListeningHandler(_ changed: @escaping () -> Void) { self.changed = changed }

  func listeningChanged() { changed?() }

  func accept(_ link: MemoryLink) {
    guard let accepted else { return link.close(abort: true) }
    accepted(link)
  }
}

/// Tells the others of the medium, and hears of them.
final class MemoryDiscovery: Discovery, @unchecked Sendable {
  // Sendable is right: what changes is used on the loop only.
  let sourceName = "memory"
  let loop: EventLoop
  private let medium: MemoryMedium
  private var handler: ((DiscoveryReport) -> Void)?

  init(_ medium: MemoryMedium, _ loop: EventLoop) {
    self.medium = medium
    self.loop = loop
  }

  func advertise(_ advertisement: NodeAdvertisement?) { medium.advertise(self, advertisement) }
  func search(sessionID: String?) { medium.search(self, sessionID: sessionID) }
  func setHandler(_ handler: @escaping (DiscoveryReport) -> Void) { self.handler = handler }
  func report(_ report: DiscoveryReport) { handler?(report) }
  func close() {
    medium.remove(self)
    handler = nil
  }
}
