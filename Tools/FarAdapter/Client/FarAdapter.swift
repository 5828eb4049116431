import PiconetEngine
import PiconetIP
import PiconetRuntime

/// One node's Bluetooth at an adapter of another machine: transports and a discovery like the real ones, whose calls
/// are all carried out by the agent there. Confined to the loop that it is made for.
public final class FarAdapter {
  /// One of each kind.
  public private(set) var transports: [any Transport] = []
  public private(set) var discoveries: [any Discovery] = []
  private let loop: EventLoop
  private let place: HostPort
  private let lost: @Sendable (RelayError) -> Void
  private var connection: ControlConnection<AdapterReport, AdapterOrder>?
  private var parts: [TransportKind: FarTransport] = [:]
  private var discovery: FarDiscovery?
  private var links: [UInt64: Weak] = [:]
  private var dials: [UInt64: FarDial] = [:]
  private var nextDial: UInt64 = 1
  private var nextLink: UInt64 = 1
  private var whenShutDown: (() -> Void)?
  private var timer: LoopTimer?
  /// Why the agent can't be asked any more.
  private(set) var loss: RelayError?

  private struct Weak { weak var link: FarLink? }

  /// How long the agent may take to connect, to answer, and to restore its adapter.
  private static let connectLimit: Int32 = 10_000
  private static let answerLimit = Duration.seconds(10)
  private static let shutDownLimit = Duration.seconds(40)

  /// Connects to the agent and waits for its answer, which blocks the loop. Never fails: if there is no agent, `lost`
  /// is called, and each use says so.
  /// - Parameter lost: called once, on the loop, with the reason why the agent can't be asked any more.
  public init(
    loop: EventLoop, agent place: HostPort, opening: AdapterOpening, lost: @escaping @Sendable (RelayError) -> Void
  ) {
    self.loop = loop
    self.place = place
    self.lost = lost
    timer = LoopTimer(loop: loop) { [weak self] in self?.lose("it does not come to its end") }
    for kind in opening.kinds.sorted(by: { $0.rawValue < $1.rawValue }) {
      let transport = FarTransport(kind, loop: loop, adapter: self)
      parts[kind] = transport
      transports.append(transport)
    }
    do throws(RelayError) {
      try open(opening)
    } catch {
      lose(error.description)
    }
  }

  private func open(_ opening: AdapterOpening) throws(RelayError) {
    let descriptor = try ControlSocket.connect(place, milliseconds: Self.connectLimit)
    connection = try ControlConnection(descriptor, loop: loop) { [weak self] in
      self?.take($0)
    } ended: { [weak self] in
      self?.lose($0)
    }
    let answer = try ask(.open(opening)) { report -> (kinds: [TransportKind], discovery: String?)? in
      if case .opened(let kinds, let discovery) = report { (kinds, discovery) } else { nil }
    }
    guard Set(answer.kinds) == opening.kinds else { throw RelayError("it has only \(answer.kinds.map(\.rawValue))") }
    if let name = answer.discovery {
      let discovery = FarDiscovery(name, adapter: self)
      self.discovery = discovery
      discoveries = [discovery]
    }
  }

  func send(_ order: AdapterOrder) { connection?.send(order) }

  /// Sends an order and waits for its answer, blocking the loop. Other reports are delivered later.
  private func ask<Answer>(_ order: AdapterOrder, _ match: (AdapterReport) -> Answer?) throws(RelayError) -> Answer {
    guard let connection else { throw loss ?? RelayError("the agent \(place) was told to end") }
    connection.send(order)
    return try connection.awaitFrame(for: Self.answerLimit) { report throws(RelayError) -> Answer? in
      if case .refused(let reason) = report { throw RelayError("it refuses: \(reason)") }
      return match(report)
    }
  }

  // MARK: Reports

  private func take(_ report: AdapterReport) {
    do throws(RelayError) {
      try perform(report)
    } catch {
      lose(error.description)
    }
  }

  private func perform(_ report: AdapterReport) throws(RelayError) {
    switch report {
    case .opened, .listening, .notListening, .paging: throw RelayError("it answers what nobody has asked")
    case .refused(let reason): throw RelayError("it refuses: \(reason)")
    case .listeningChanged(let kind, let place): try transport(kind).listeningChanged(place)
    case .dialled(let dial, let number, let traits): try takeDial(dial).dialled(try newLink(number, traits))
    case .dialFailed(let dial, let failure): try takeDial(dial).failed(failure)
    case .accepted(let number, let traits):
      let link = try newLink(number, traits)
      try transport(traits.kind).accepted(link)
    case .received(let link, let piece): try known(link)?.received(piece)
    case .written(let link, let count): try known(link)?.written(count)
    case .ended(let link, let failure): try known(link)?.ended(failure)
    case .discovered(let report): discovery?.handler?(report)
    case .shutDown:
      guard let whenShutDown else { throw RelayError("it has ended by itself") }
      end()
      whenShutDown()
    }
  }

  private func transport(_ kind: TransportKind) throws(RelayError) -> FarTransport {
    guard let transport = parts[kind] else { throw RelayError("it speaks of \(kind.rawValue), which nobody wants") }
    return transport
  }

  private func takeDial(_ number: UInt64) throws(RelayError) -> FarDial {
    guard let dial = dials.removeValue(forKey: number) else {
      throw RelayError("it ends dial \(number), which is none")
    }
    return dial
  }

  private func newLink(_ number: UInt64, _ traits: LinkTraits) throws(RelayError) -> FarLink {
    guard number == nextLink else { throw RelayError("it numbers a link \(number) where \(nextLink) comes next") }
    nextLink += 1
    let link = FarLink(number, traits, loop: loop, adapter: self)
    links[number] = Weak(link: link)
    return link
  }

  /// - Returns: nil for a link that has been closed here, which the agent may not have known.
  private func known(_ number: UInt64) throws(RelayError) -> FarLink? {
    guard number < nextLink else { throw RelayError("it speaks of link \(number), which is none") }
    return links[number]?.link
  }

  // MARK: What its parts want

  /// Asks the agent to listen, and waits.
  func listen(_ kind: TransportKind) throws(LinkFailure) -> FarListeningPlace {
    let answer: Result<FarListeningPlace, LinkFailure>
    do throws(RelayError) {
      answer = try ask(.listen(kind)) { report in
        switch report {
        case .listening(kind, let place): .success(place)
        case .notListening(kind, let failure): .failure(failure)
        default: nil
        }
      }
    } catch {
      lose(error.description)
      throw failure
    }
    return try answer.get()
  }

  func dial(_ kind: TransportKind, _ addresses: [TransportAddress], _ dial: FarDial) {
    guard connection != nil else { return loop.executeLater { [failure] in dial.failed(failure) } }
    dial.number = nextDial
    dials[nextDial] = dial
    nextDial += 1
    send(.dial(dial.number, kind, addresses))
  }

  func closed(_ link: UInt64, abort: Bool) {
    if links.removeValue(forKey: link) != nil { send(.close(link, abort: abort)) }
  }

  /// Whether the adapter there answers dials at this moment; blocks the loop to ask.
  public func answersPaging() -> Bool {
    do throws(RelayError) {
      return try ask(.askPaging) { if case .paging(let isOn) = $0 { isOn } else { nil } }
    } catch {
      lose(error.description)
      return false
    }
  }

  // MARK: The end

  /// The failure of everything once there is no agent any more.
  var failure: LinkFailure {
    LinkFailure(.notAvailable, loss?.description ?? "the far adapter at \(place) was shut down")
  }

  private func lose(_ reason: String) {
    guard loss == nil else { return }
    let loss = RelayError("the control connection to the far adapter at \(place) is lost: \(reason)")
    self.loss = loss
    lost(loss)
    let whenShutDown = whenShutDown
    end()
    whenShutDown?()
  }

  private func end() {
    timer?.set(nil)
    connection?.close()
    connection = nil
    whenShutDown = nil
    let (dials, links) = (self.dials, self.links)
    self.dials = [:]
    self.links = [:]
    // Not from within the call that led here.
    loop.executeLater { [failure] in
      for (_, dial) in dials.sorted(by: { $0.key < $1.key }) { dial.failed(failure) }
    }
    for (_, weak) in links { weak.link?.lost(failure) }
    for transport in parts.values { transport.lost() }
  }

  /// Tells the agent to end everything. `completion` is called on the loop when its adapter has been restored, or if it
  /// can't be asked.
  public func shutDown(_ completion: @escaping () -> Void) {
    guard connection != nil, whenShutDown == nil else { return loop.executeLater(completion) }
    whenShutDown = completion
    timer?.set(after: Self.shutDownLimit)
    send(.shutDown)
  }
}
