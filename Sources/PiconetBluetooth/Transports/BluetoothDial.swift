import Glibc
import PiconetEngine
import PiconetRuntime
import PiconetSDP

/// One dial: carries out the decisions of the `DialSequence`, with sockets, a timer and look-ups.
final class BluetoothDial: DialCancellation {
  private let loop: EventLoop
  private let environment: Environment
  private var completion: ((Result<any LinkEndpoint, LinkFailure>) -> Void)?
  private var sequence: DialSequence
  private var attempt: BluetoothAttempt?
  private var lookUp: (step: Int, cancellation: any DialCancellation)?
  private var timer: LoopTimer?
  private var result: Result<any LinkEndpoint, LinkFailure>?

  /// The parts of a transport that a dial uses.
  struct Environment {
    var kind: SocketKind
    var configuration: BluetoothTransportConfiguration
    var adapters: AdapterPicker
    var lookUp: ServicePortLookUp?
    var closes: DrainingCloses
  }

  /// - Parameter completion: called exactly once, on the loop, not from within `start` or `cancel`.
  init(
    loop: EventLoop, environment: Environment, completion: @escaping (Result<any LinkEndpoint, LinkFailure>) -> Void
  ) {
    self.loop = loop
    self.environment = environment
    self.completion = completion
    sequence = DialSequence(environment.configuration.dial)
    // Held strongly: a dial lives until it has reported its outcome, even if the transport is released.
    timer = LoopTimer(loop: loop) { [self] in
      perform(sequence.deadlineReached(at: loop.awakeTime, mayAsk: attempt?.mayAsk == true))
    }
  }

  func start(_ addresses: [TransportAddress]) {
    var places: [BluetoothPlace] = []
    var losses: [DialSequence.Loss] = []
    // Beyond twice the limit addresses are not even parsed: the list may come from the air.
    for address in addresses.prefix(environment.configuration.dial.placeLimit * 2) {
      if let failure = place(address, into: &places) {
        losses.append(DialSequence.Loss(subject: address.text, failure: failure))
      }
    }
    perform(sequence.start(places, losses: losses, at: loop.awakeTime))
  }

  private func place(_ address: TransportAddress, into places: inout [BluetoothPlace]) -> LinkFailure? {
    let kind = environment.kind
    guard address.kind == kind.transport else {
      return LinkFailure(.notAvailable, "not an address of \(kind.transport.rawValue)")
    }
    guard let place = BluetoothPlace(address.text) else {
      return LinkFailure(.notAvailable, "not a device; write 00:11:22:33:44:55, or 00:11:22:33:44:55/NUMBER")
    }
    if place.isRandom, kind != .le { return LinkFailure(.notAvailable, "only LE has random addresses") }
    if let port = place.port, !kind.isValid(port: port) {
      return LinkFailure(.notAvailable, "\(port) is no \(kind == .rfcomm ? "channel" : "PSM") of this kind")
    }
    places.append(place)
    return nil
  }

  func cancel() {
    if completion == nil { return }
    if case .success(let link)? = result {
      // Connected, but not reported yet.
      link.close(abort: true)
      result = .failure(LinkFailure(.cancelled))
    }
    perform(sequence.cancel())
  }

  // MARK: Effects

  private func perform(_ effects: [DialSequence.Effect]) {
    var waiting = effects[...]
    while let effect = waiting.popFirst() {
      switch effect {
      case .lookUp(let step, let place): waiting += ask(step, place)
      case .open(let step, let place): waiting += open(step, place)
      case .check(let step):
        if let attempt, attempt.step == step, attempt.isStranded {
          waiting += sequence.stranded(step, at: loop.awakeTime)
        }
      case .close(let step): close(step)
      case .drop(let step):
        if attempt?.step == step {
          attempt?.drop()
          attempt = nil
        }
      case .finished(let outcome): finish(outcome)
      }
    }
    if result == nil, completion != nil { timer?.set(awake: sequence.nextDeadline) }
  }

  private func ask(_ step: Int, _ place: BluetoothPlace) -> [DialSequence.Effect] {
    guard let lookUp = environment.lookUp else {
      return sequence.failed(
        step, LinkFailure(.noService, "no number, and nothing here that could ask for it"), at: loop.awakeTime)
    }
    let kind = environment.kind
    let cancellation = lookUp(place, kind) { [weak self] answer in
      guard let self, self.lookUp?.step == step else { return }
      self.lookUp = nil
      switch answer {
      case .success(let ports):
        perform(sequence.found(step, ports.filter { kind.isValid(port: $0) }, at: loop.awakeTime))
      case .failure(let failure): perform(sequence.failed(step, failure, at: loop.awakeTime))
      }
    }
    self.lookUp = (step, cancellation)
    return []
  }

  private func open(_ step: Int, _ place: BluetoothPlace) -> [DialSequence.Effect] {
    do throws(LinkFailure) {
      let source = try environment.adapters.source(for: environment.kind, to: place.device)
      let attempt = try BluetoothAttempt(step, place, from: source, loop: loop, environment: environment, dial: self)
      self.attempt = attempt
      return attempt.isConnected ? outcome(of: attempt) : []
    } catch {
      return sequence.failed(
        step, environment.adapters.explain(error, environment.kind, isAtOnce: true), at: loop.awakeTime)
    }
  }

  private func close(_ step: Int) {
    if attempt?.step == step {
      attempt?.close()
      attempt = nil
    }
    if let lookUp, lookUp.step == step {
      self.lookUp = nil
      lookUp.cancellation.cancel()
    }
  }

  fileprivate func isDecided(_ attempt: BluetoothAttempt) { perform(outcome(of: attempt)) }

  private func outcome(of attempt: BluetoothAttempt) -> [DialSequence.Effect] {
    guard let error = attempt.failure else { return sequence.connected(attempt.step) }
    close(attempt.step)
    let failure = environment.adapters.explain(LinkFailure(bluetooth: error), environment.kind)
    return sequence.failed(attempt.step, failure, at: loop.awakeTime)
  }

  private func finish(_ outcome: DialSequence.Outcome) {
    timer?.set(nil)
    timer = nil
    switch outcome {
    case .cancelled: result = .failure(LinkFailure(.cancelled))
    case .failed(let losses): result = .failure(LinkFailure(losses))
    case .connected: result = link()
    }
    loop.executeLater { [self] in
      guard let completion, let result else { return }
      self.completion = nil
      self.result = nil
      completion(result)
    }
  }

  private func link() -> Result<any LinkEndpoint, LinkFailure> {
    guard let socket = attempt?.takeSocket() else { return .failure(LinkFailure(.other, "no such attempt")) }
    attempt = nil
    do throws(LinkFailure) {
      return .success(
        try BluetoothLink(
          socket: socket, loop: loop, configuration: environment.configuration, closes: environment.closes))
    } catch {
      return .failure(error)
    }
  }
}

/// One socket on its way to one place.
private final class BluetoothAttempt: DescriptorHandler {
  let step: Int
  private unowned let dial: BluetoothDial
  private let closes: DrainingCloses
  private let device: BluetoothAddress
  private var socket: BluetoothSocket?
  private var watch: DescriptorWatch?
  private(set) var isConnected = false

  init(
    _ step: Int, _ place: BluetoothPlace, from source: SocketEnd, loop: EventLoop,
    environment: BluetoothDial.Environment, dial: BluetoothDial
  ) throws(LinkFailure) {
    self.step = step
    self.dial = dial
    closes = environment.closes
    device = place.device
    do throws(SystemError) {
      let socket = try BluetoothSocket(environment.kind)
      // From here on `deinit` closes the socket, even if this throws.
      self.socket = socket
      try socket.bind(to: source)
      try socket.apply(environment.configuration.socket)
      let remote = SocketEnd(device: place.device, port: place.port ?? 0, isRandom: place.isRandom)
      isConnected = try socket.connect(to: remote)
      if !isConnected { watch = try loop.watch(socket.descriptor, for: .write, handler: self) }
    } catch {
      throw LinkFailure(bluetooth: error)
    }
  }

  deinit { close() }

  func descriptorIsReady(_ readiness: Readiness) { dial.isDecided(self) }

  /// Why a completed attempt failed; nil if it is connected.
  var failure: SystemError? { socket?.failure }

  /// Whether the device's system may be asking its user about the connection. It does not over LE, where nothing is
  /// authenticated.
  var mayAsk: Bool { socket.map { $0.kind != .le && $0.hasLink(to: device) } ?? false }

  func takeSocket() -> BluetoothSocket? {
    watch?.cancel()
    defer { socket = nil }
    return socket
  }

  var isStranded: Bool { socket?.isStranded(to: device) ?? false }

  /// Closes the socket without waiting for an answer.
  func drop() {
    watch?.cancel()
    socket?.close()
    socket = nil
  }

  func close() {
    guard let socket else { return }
    self.socket = nil
    if let watch {
      watch.cancel()
      closes.takeConnecting(socket, to: device)
    } else {
      socket.close()
    }
  }
}

extension LinkFailure {
  /// The failure of a dial: the most telling code, and every place with its reason.
  init(_ losses: [DialSequence.Loss]) {
    let byWeight: [Code] = [
      .tooManyDescriptors, .connectionLimit, .authentication, .permission, .refused, .reset, .busy, .noService,
      .timedOut, .hostDown,
      .unreachable, .notAvailable,
    ]
    let codes = Set(losses.map(\.failure.code))
    let code = byWeight.first(where: codes.contains) ?? (losses.isEmpty ? .notAvailable : .other)
    self.init(code, losses.isEmpty ? "no address" : losses.map(\.description).joined(separator: "; "))
  }
}
