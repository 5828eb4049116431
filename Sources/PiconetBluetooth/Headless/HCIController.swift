import CPiconetBluetooth
import Glibc
import PiconetEngine
import PiconetRuntime
import PiconetSDP

/// A raw HCI socket of one adapter: commands one after the other, each with its answer, and events; confined to the loop.
final class HCIController: DescriptorHandler {
  typealias Answer = Result<[UInt8], LinkFailure>

  /// The most commands that wait.
  static let queueLimit = 64
  /// How long a controller may take for a command.
  static let commandLimit = Duration.seconds(3)

  private let loop: EventLoop
  private let descriptor: Int32
  private let handler: (HCIEvent) -> Void
  private var watch: DescriptorWatch?
  private var timer: LoopTimer?
  private var queue: [(command: HCICommand, completion: (Answer) -> Void)] = []
  private var underWay: (command: HCICommand, completion: (Answer) -> Void)?

  /// - Parameter handler: gets what answers no command of ours.
  init(index: UInt16, loop: EventLoop, handler: @escaping (HCIEvent) -> Void) throws(LinkFailure) {
    self.loop = loop
    self.handler = handler
    descriptor = piconet_hci_open(index)
    if descriptor < 0 { throw LinkFailure(listening: SystemError("bind", errno), "hci\(index)") }
    do {
      watch = try loop.watch(descriptor, for: .read, handler: self)
    } catch {
      Glibc.close(descriptor)
      throw LinkFailure(listening: error, "hci\(index)")
    }
    timer = LoopTimer(loop: loop) { [weak self] in
      self?.answered(.failure(LinkFailure(.timedOut, "the controller does not answer a command")))
    }
  }

  deinit { close() }

  /// Gives a command; `completion` gets the parameters of the answer behind its status.
  func send(_ command: HCICommand, completion: @escaping (Answer) -> Void) {
    guard watch != nil, queue.count < Self.queueLimit else {
      return loop.executeLater { completion(.failure(LinkFailure(.busy, "too many HCI commands wait"))) }
    }
    queue.append((command, completion))
    sendNext()
  }

  /// Gives a command of which nobody waits for the answer: at the end.
  func post(_ command: HCICommand) { _ = write(command) }

  /// Idempotent; no completion is called afterwards.
  func close() {
    guard let watch else { return }
    watch.cancel()
    self.watch = nil
    timer?.set(nil)
    queue = []
    underWay = nil
    Glibc.close(descriptor)
  }

  func descriptorIsReady(_ readiness: Readiness) {
    var packet = [UInt8](repeating: 0, count: 1 + 2 + 255)
    for _ in 0..<64 where watch != nil {
      let count = recv(descriptor, &packet, packet.count, 0)
      if count < 0 {
        if errno == EAGAIN || errno == EINTR { return }
        // The adapter is gone, or down: what is under way never gets an answer.
        return failed(SystemError("recv", errno))
      }
      guard let event = HCIEvent(Array(packet.prefix(count))) else { continue }
      switch (event, underWay) {
      case (.commandComplete(let opcode, let status, let parameters), let (command, _)?) where opcode == command.opcode:
        answered(status == 0 ? .success(parameters) : .failure(.init(command, status: status)))
      case (.commandStatus(let opcode, let status), let (command, _)?) where opcode == command.opcode:
        answered(status == 0 ? .success([]) : .failure(.init(command, status: status)))
      case (.commandComplete, _), (.commandStatus, _): continue
      default: handler(event)
      }
    }
  }

  private func sendNext() {
    guard underWay == nil, !queue.isEmpty else { return }
    let next = queue.removeFirst()
    underWay = next
    timer?.set(after: Self.commandLimit)
    if let error = write(next.command) {
      loop.executeLater { [weak self] in
        self?.answered(.failure(LinkFailure(listening: error, "an HCI command")))
      }
    }
  }

  private func write(_ command: HCICommand) -> SystemError? {
    let packet = command.packet
    if Glibc.send(descriptor, packet, packet.count, Int32(MSG_NOSIGNAL)) == packet.count { return nil }
    return SystemError("send", errno)
  }

  private func answered(_ answer: Answer) {
    guard let (_, completion) = underWay else { return }
    underWay = nil
    timer?.set(nil)
    sendNext()
    completion(answer)
  }

  private func failed(_ error: SystemError) {
    watch?.setInterest([])
    answered(.failure(LinkFailure(listening: error, "HCI")))
  }
}

extension LinkFailure {
  fileprivate init(_ command: HCICommand, status: UInt8) {
    let code: Code = status == 0x0C ? .busy : .other
    self.init(
      code,
      "the controller refuses command 0x\(String(command.opcode, radix: 16)): status 0x\(String(status, radix: 16))")
  }
}
