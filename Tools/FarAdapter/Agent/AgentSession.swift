import PiconetEngine
import PiconetRuntime
import PiconetWire

/// A node of a test elsewhere: carries out the test's orders with the parts that were made for it. Confined to the
/// loop.
final class AgentSession {
  private let loop: EventLoop
  private let make: AdapterParts.Making
  /// Called once, when nothing of it is left; with the reason if it did not end in good order.
  private let ended: (AgentSession, String?) -> Void
  private var connection: ControlConnection<AdapterOrder, AdapterReport>?
  private var parts: AdapterParts?
  private var links: [UInt64: AgentLink] = [:]
  private var dials: [UInt64: any DialCancellation] = [:]
  private var nextLink: UInt64 = 1
  private var nextDial: UInt64 = 1
  private var isEnding = false
  /// Called when no link is still writing.
  private var whenWritten: (() -> Void)?

  private var timer: LoopTimer?

  /// How long a test may take to say what it wants after connecting.
  private static let openingTime = Duration.seconds(10)
  /// The most links, and the most dials, at a time.
  private static let limit = 64

  init(
    loop: EventLoop, make: @escaping AdapterParts.Making, ended: @escaping (AgentSession, String?) -> Void
  ) {
    self.loop = loop
    self.make = make
    self.ended = ended
  }

  func start(_ descriptor: Int32) {
    do throws(RelayError) {
      connection = try ControlConnection(descriptor, loop: loop) { [weak self] in
        self?.take($0)
      } ended: { [weak self] in
        self?.end($0)
      }
      timer = LoopTimer(loop: loop) { [weak self] in self?.refuse("nothing was opened in \(Self.openingTime)") }
      timer?.set(after: Self.openingTime)
    } catch {
      let reason = error.description
      loop.executeLater { [self] in end(reason) }
    }
  }

  // MARK: Orders

  private func take(_ order: AdapterOrder) {
    guard !isEnding else { return }
    do throws(RelayError) {
      try perform(order)
    } catch {
      refuse(error.description)
    }
  }

  private func refuse(_ reason: String) {
    connection?.send(.refused(reason))
    connection?.closeWhenSent()
    connection = nil
    end(reason)
  }

  private func perform(_ order: AdapterOrder) throws(RelayError) {
    if case .open(let opening) = order { return try open(opening) }
    guard let parts else { throw RelayError("the first order opens nothing") }
    switch order {
    case .open: break
    case .listen(let kind): try listen(kind)
    case .stopListening(let kind): try transport(kind).stopListening()
    case .dial(let dial, let kind, let addresses): try self.dial(dial, try transport(kind), addresses)
    case .cancelDial(let dial): dials[dial]?.cancel()
    case .write(let link, let piece): try known(link)?.write(piece)
    case .taken(let link, let count): try known(link)?.taken(count)
    case .close(let link, let abort): try known(link)?.close(abort: abort)
    case .advertise(let advertisement): parts.discovery?.advertise(advertisement)
    case .search(let sessionID): parts.discovery?.search(sessionID: sessionID)
    case .setRadioBusy(let isBusy): parts.discovery?.setRadioBusy(isBusy)
    case .setExpecting(let isExpecting): parts.discovery?.setExpecting(isExpecting)
    case .askPaging: connection?.send(.paging(parts.answersPaging()))
    case .shutDown: shutDown()
    }
  }

  private func open(_ opening: AdapterOpening) throws(RelayError) {
    guard parts == nil else { throw RelayError("a node was opened already") }
    timer?.set(nil)
    let parts = try make(loop, opening)
    self.parts = parts
    parts.discovery?.setHandler { [weak self] in self?.connection?.send(.discovered($0)) }
    for transport in parts.transports {
      transport.setListeningHandler { [weak self, weak transport] in
        guard let self, let transport else { return }
        connection?.send(.listeningChanged(transport.kind, Self.place(of: transport)))
      }
    }
    connection?.send(.opened(kinds: parts.transports.map(\.kind), discovery: parts.discovery?.sourceName))
  }

  private func transport(_ kind: TransportKind) throws(RelayError) -> any Transport {
    guard let transport = parts?.transports.first(where: { $0.kind == kind }) else {
      throw RelayError("there is no transport \(kind.rawValue) here")
    }
    return transport
  }

  private static func place(of transport: any Transport) -> FarListeningPlace {
    FarListeningPlace(port: transport.listeningPort, addresses: transport.listeningAddresses)
  }

  private func listen(_ kind: TransportKind) throws(RelayError) {
    let transport = try transport(kind)
    do throws(LinkFailure) {
      try transport.listen { [weak self] endpoint in
        guard let self, !isEnding, links.count < Self.limit else { return endpoint.close(abort: true) }
        let number = nextLink
        connection?.send(.accepted(link: number, endpoint.traits))
        add(endpoint)
      }
      connection?.send(.listening(kind, Self.place(of: transport)))
    } catch {
      connection?.send(.notListening(kind, error))
    }
  }

  private func dial(
    _ number: UInt64, _ transport: any Transport, _ addresses: [TransportAddress]
  ) throws(RelayError) {
    guard number >= nextDial, number < .max else { throw RelayError("a dial's number comes twice") }
    nextDial = number + 1
    guard dials.count < Self.limit else {
      connection?.send(.dialFailed(number, LinkFailure(.busy, "\(Self.limit) dials at a time")))
      return
    }
    dials[number] = transport.dial(addresses) { [weak self] result in
      guard let self else {
        if case .success(let endpoint) = result { endpoint.close(abort: true) }
        return
      }
      dialled(number, result)
    }
  }

  private func dialled(_ number: UInt64, _ result: Result<any LinkEndpoint, LinkFailure>) {
    dials[number] = nil
    switch result {
    case .failure(let failure): connection?.send(.dialFailed(number, failure))
    case .success(let endpoint) where isEnding || links.count >= Self.limit:
      endpoint.close(abort: true)
      connection?.send(.dialFailed(number, LinkFailure(.busy, "\(Self.limit) links at a time")))
    case .success(let endpoint):
      connection?.send(.dialled(number, link: nextLink, endpoint.traits))
      add(endpoint)
    }
  }

  // MARK: Links

  private func add(_ endpoint: any LinkEndpoint) {
    let number = nextLink
    nextLink += 1
    let link = AgentLink(endpoint, loop: loop) { [weak self] event in self?.link(number, event) }
    links[number] = link
    link.start()
  }

  /// - Returns: nil for a link that has been closed here, which the test may not have known.
  /// - Throws: if there was never such a link.
  private func known(_ link: UInt64) throws(RelayError) -> AgentLink? {
    guard link < nextLink else { throw RelayError("there is no link \(link)") }
    return links[link]
  }

  private func link(_ number: UInt64, _ event: AgentLink.Event) {
    switch event {
    case .received(let bytes): connection?.send(.received(number, bytes))
    case .written(let count): connection?.send(.written(number, count))
    case .ended(let failure): connection?.send(.ended(number, failure))
    case .closed:
      links[number] = nil
      if links.isEmpty { whenWritten?() }
    }
  }

  // MARK: The end

  private func shutDown() {
    isEnding = true
    closeParts { [self] in
      connection?.send(.shutDown)
      connection?.closeWhenSent()
      connection = nil
      ended(self, nil)
    }
  }

  /// Ends everything at once, and restores the adapter.
  func end(_ reason: String) {
    guard !isEnding else { return endWriting() }
    isEnding = true
    connection?.send(.refused(reason))
    connection?.closeWhenSent()
    connection = nil
    endWriting()
    closeParts { [self] in ended(self, reason) }
  }

  private func endWriting() { for link in Array(links.values) { link.abort() } }

  /// Links that the test has closed in good order write what they have; the others end now.
  private func closeParts(_ completion: @escaping () -> Void) {
    timer?.set(nil)
    guard let parts else { return loop.executeLater(completion) }
    for dial in Array(dials.values) { dial.cancel() }
    for link in Array(links.values) where !link.isClosing { link.abort() }
    for transport in parts.transports { transport.stopListening() }
    parts.discovery?.advertise(nil)
    parts.discovery?.search(sessionID: nil)
    whenWritten = { [self] in
      whenWritten = nil
      self.parts = nil
      // Held until the end.
      parts.shutDown { withExtendedLifetime(parts, completion) }
    }
    if links.isEmpty { whenWritten?() }
  }
}
