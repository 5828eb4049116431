import PiconetEngine
import PiconetRuntime

/// One transport of an adapter elsewhere. Confined to the loop.
final class FarTransport: Transport {
  let kind: TransportKind
  private let loop: EventLoop
  private weak var adapter: FarAdapter?
  private var acceptLink: ((any LinkEndpoint) -> Void)?
  private var changed: (() -> Void)?
  private var place: FarListeningPlace?

  init(_ kind: TransportKind, loop: EventLoop, adapter: FarAdapter) {
    self.kind = kind
    self.loop = loop
    self.adapter = adapter
  }

  private static let gone = LinkFailure(.notAvailable, "the far adapter was shut down")

  func dial(
    _ addresses: [TransportAddress], completion: @escaping (Result<any LinkEndpoint, LinkFailure>) -> Void
  ) -> any DialCancellation {
    let dial = FarDial(adapter, completion)
    if let adapter {
      adapter.dial(kind, addresses, dial)
    } else {
      loop.executeLater { dial.failed(Self.gone) }
    }
    return dial
  }

  func listen(_ accepted: @escaping (any LinkEndpoint) -> Void) throws(LinkFailure) {
    guard let adapter else { throw Self.gone }
    place = try adapter.listen(kind)
    acceptLink = accepted
  }

  var listeningPort: UInt16? { place?.port }
  var listeningAddresses: [TransportAddress] { place?.addresses ?? [] }

  func stopListening() {
    guard acceptLink != nil else { return }
    acceptLink = nil
    place = nil
    adapter?.send(.stopListening(kind))
  }

  func setListeningHandler(_ changed: @escaping () -> Void) { self.changed = changed }

  // MARK: What the agent tells

  func accepted(_ link: FarLink) {
    // It came while we were telling the agent that nothing listens any more.
    guard let acceptLink else { return link.close(abort: true) }
    acceptLink(link)
  }

  func listeningChanged(_ place: FarListeningPlace) {
    if place.port == nil {
      // Listening has ended on its own, and may be started again.
      acceptLink = nil
      self.place = nil
    } else if acceptLink != nil {
      self.place = place
    }
    changed?()
  }

  func lost() {
    acceptLink = nil
    place = nil
    changed = nil
  }
}

/// A dial that the agent makes.
final class FarDial: DialCancellation {
  var number: UInt64 = 0
  private weak var adapter: FarAdapter?
  private var completion: ((Result<any LinkEndpoint, LinkFailure>) -> Void)?
  private var isCancelled = false

  init(_ adapter: FarAdapter?, _ completion: @escaping (Result<any LinkEndpoint, LinkFailure>) -> Void) {
    self.adapter = adapter
    self.completion = completion
  }

  /// The agent answers in any case.
  func cancel() {
    guard completion != nil, !isCancelled else { return }
    isCancelled = true
    adapter?.send(.cancelDial(number))
  }

  func dialled(_ link: FarLink) {
    guard isCancelled else { return end(.success(link)) }
    link.close(abort: true)
    end(.failure(LinkFailure(.cancelled)))
  }

  func failed(_ failure: LinkFailure) { end(.failure(isCancelled ? LinkFailure(.cancelled) : failure)) }

  private func end(_ result: Result<any LinkEndpoint, LinkFailure>) {
    let completion = completion
    self.completion = nil
    completion?(result)
  }
}
