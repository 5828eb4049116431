import CPiconetSystem
import Glibc
import PiconetEngine
import PiconetRuntime

/// One dial: carries out the decisions of the address race, with sockets, a timer and name look-ups.
final class TCPDial: DialCancellation {
  private let loop: EventLoop
  private let configuration: TCPConfiguration
  private let resolver: (any BlockingThreads)?
  private let lookUp: NameLookup.Function
  private let lingering: LingeringCloses
  private var completion: ((Result<any LinkEndpoint, LinkFailure>) -> Void)?
  private var race: AddressRace
  private var attempts: [Int: TCPAttempt] = [:]
  private var timer: LoopTimer?
  private var result: Result<any LinkEndpoint, LinkFailure>?

  /// - Parameter completion: called exactly once, on the loop, not from within `start` or `cancel`.
  init(
    loop: EventLoop, configuration: TCPConfiguration, resolver: (any BlockingThreads)?,
    lookUp: @escaping NameLookup.Function, lingering: LingeringCloses,
    completion: @escaping (Result<any LinkEndpoint, LinkFailure>) -> Void
  ) {
    self.loop = loop
    self.configuration = configuration
    self.resolver = resolver
    self.lookUp = lookUp
    self.lingering = lingering
    self.completion = completion
    race = AddressRace(configuration.race)
    // Held strongly: a dial lives until it has reported its outcome, even if the transport is released.
    timer = LoopTimer(loop: loop) { [self] in perform(race.deadlineReached(at: loop.awakeTime)) }
  }

  func start(_ addresses: [TransportAddress]) {
    var numeric: [SocketAddress] = []
    var names: [HostPort] = []
    var losses: [AddressRace.Loss] = []
    // Beyond twice the race's limit addresses are not even parsed: the list may come from the network.
    for address in addresses.prefix(configuration.race.addressLimit * 2) {
      do throws(LinkFailure) {
        guard address.kind == .tcp else { throw LinkFailure(.notAvailable, "not an address of TCP") }
        let name = try HostPort(address.text)
        if let found = try name.numericAddresses() {
          numeric += found
        } else if names.count < configuration.nameLimit, !names.contains(name) {
          names.append(name)
        }
      } catch {
        losses.append(AddressRace.Loss(subject: address.text, failure: error))
      }
    }
    let networks = numeric.contains { !$0.isIPv6 && !$0.isLoopback } ? LocalNetwork.current() : []
    numeric = SocketAddress.overEachInterface(numeric, networks)
    perform(race.start(numeric, losses: losses, unresolved: names.count, at: loop.awakeTime))
    for name in names { resolve(name) }
  }

  func cancel() {
    if completion == nil { return }
    if case .success(let link)? = result {
      // Connected, but not reported yet.
      link.close(abort: true)
      result = .failure(LinkFailure(.cancelled))
    }
    perform(race.cancel())
  }

  private func resolve(_ name: HostPort) {
    let isTaken = resolver?.submit(answering: loop) { [lookUp] in
      lookUp(name)
    } then: { [weak self] answer in
      guard let self else { return }
      switch answer {
      case .success(let addresses): perform(race.resolved(addresses, at: loop.awakeTime))
      case .failure(let failure): resolutionFailed(name, failure)
      }
    }
    if isTaken == true { return }
    resolutionFailed(name, LinkFailure(.busy, isTaken == nil ? "no name look-up here" : "too many name look-ups"))
  }

  private func resolutionFailed(_ name: HostPort, _ failure: LinkFailure) {
    perform(
      race.resolutionFailed(AddressRace.Loss(subject: name.description, failure: failure), at: loop.awakeTime))
  }

  // MARK: Effects

  private func perform(_ effects: [AddressRace.Effect]) {
    var waiting = effects[...]
    while let effect = waiting.popFirst() {
      switch effect {
      case .open(let number, let address): waiting += open(number, address)
      case .close(let number): attempts.removeValue(forKey: number)?.close()
      case .finished(let outcome): finish(outcome)
      }
    }
    if result == nil { timer?.set(awake: race.nextDeadline) }
  }

  private func open(_ number: Int, _ address: SocketAddress) -> [AddressRace.Effect] {
    do throws(LinkFailure) {
      let attempt = try TCPAttempt(number, address, loop: loop, configuration: configuration, dial: self)
      attempts[number] = attempt
      return attempt.isConnected ? outcome(of: attempt) : []
    } catch {
      return race.failed(number, error, at: loop.awakeTime)
    }
  }

  fileprivate func isDecided(_ attempt: TCPAttempt) { perform(outcome(of: attempt)) }

  private func outcome(of attempt: TCPAttempt) -> [AddressRace.Effect] {
    guard let failure = attempt.failure else { return race.connected(attempt.number, at: loop.awakeTime) }
    attempts.removeValue(forKey: attempt.number)?.close()
    return race.failed(attempt.number, failure, at: loop.awakeTime)
  }

  private func finish(_ outcome: AddressRace.Outcome) {
    timer?.set(nil)
    timer = nil
    switch outcome {
    case .cancelled: result = .failure(LinkFailure(.cancelled))
    case .failed(let losses): result = .failure(LinkFailure(losses))
    case .connected(let number):
      guard let socket = attempts.removeValue(forKey: number)?.takeSocket() else {
        result = .failure(LinkFailure(.other, "no such attempt"))
        break
      }
      do throws(LinkFailure) {
        result = .success(
          try TCPLink(socket: socket, loop: loop, configuration: configuration, lingering: lingering))
      } catch {
        result = .failure(error)
      }
    }
    loop.executeLater { [self] in
      guard let completion, let result else { return }
      self.completion = nil
      self.result = nil
      completion(result)
    }
  }
}

/// One socket on its way to one address.
private final class TCPAttempt: DescriptorHandler {
  let number: Int
  private unowned let dial: TCPDial
  private var socket: Int32
  private var watch: DescriptorWatch?
  private(set) var isConnected = false

  init(
    _ number: Int, _ address: SocketAddress, loop: EventLoop, configuration: TCPConfiguration, dial: TCPDial
  ) throws(LinkFailure) {
    self.number = number
    self.dial = dial
    socket = try TCPSocket.make(address.family)
    // Before connecting, so that they hold from the first segment on.
    TCPSocket.prepare(socket, configuration)
    if address.interface != 0, !TCPSocket.restrict(socket, toInterface: address.interface) {
      throw LinkFailure(.notAvailable, "this kernel does not let it choose the interface")
    }
    if address.withSystemAddress({ connect(socket, $0, $1) }) == 0 {
      isConnected = true
      return
    }
    // From here on `deinit` closes the socket, even if this throws.
    let error = errno
    guard error == EINPROGRESS || error == EINTR else { throw LinkFailure(call: "connect", number: error) }
    do {
      watch = try loop.watch(socket, for: .write, handler: self)
    } catch {
      throw LinkFailure(error)
    }
  }

  deinit { close() }

  func descriptorIsReady(_ readiness: Readiness) { dial.isDecided(self) }

  /// Why a completed attempt failed; nil if it is connected.
  var failure: LinkFailure? {
    let error = piconet_socket_error(socket)
    if error != 0 { return LinkFailure(call: "connect", number: error) }
    // The system may pick the dialled port of this host, if nothing listens there, as our own local port: TCP then
    // connects us to ourselves.
    if let local = SocketAddress.of(socket, remote: false), local == SocketAddress.of(socket, remote: true) {
      return LinkFailure(.refused, "connected to itself: nobody listens there")
    }
    return nil
  }

  func takeSocket() -> Int32 {
    watch?.cancel()
    defer { socket = -1 }
    return socket
  }

  func close() {
    watch?.cancel()
    if socket < 0 { return }
    // A connection that has succeeded meanwhile is not wanted: it gets no orderly close.
    _ = piconet_set_abortive_close(socket)
    Glibc.close(socket)
    socket = -1
  }
}

extension LinkFailure {
  /// Creates the failure of a dial: the most telling code, and every address with its reason. A refusal says that no
  /// program listens there any more, so it counts only if no address was silent: the peer may be at a silent one.
  init(_ losses: [AddressRace.Loss]) {
    let byWeight: [Code] = [
      .tooManyDescriptors, .refused, .reset, .permission, .busy, .timedOut, .hostDown, .unreachable, .notAvailable,
    ]
    var codes = Set(losses.map(\.failure.code))
    if !codes.isDisjoint(with: [.timedOut, .hostDown]) { codes.remove(.refused) }
    let code = byWeight.first(where: codes.contains) ?? (losses.isEmpty ? .notAvailable : .other)
    self.init(code, losses.isEmpty ? "no address" : losses.map(\.description).joined(separator: "; "))
  }
}
