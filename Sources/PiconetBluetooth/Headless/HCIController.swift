import CPiconetBluetooth
import Glibc
import PiconetEngine
import PiconetRuntime
import PiconetSDP

/// A raw HCI socket of an adapter: commands one after the other, each with its answer, and events; confined to the
/// loop.
final class HCIController: DescriptorHandler {
  typealias Answer = Result<[UInt8], LinkFailure>

  private let loop: EventLoop
  private let descriptor: Int32
  private let handler: (HCIEvent) -> Void
  private let lost: (LinkFailure) -> Void
  private var watch: DescriptorWatch?
  private var timer: LoopTimer?
  private var conversation = HCIConversation()
  private var completions: [HCIConversation.Ticket: (Answer) -> Void] = [:]
  private var writeFailures: [HCIConversation.Ticket: SystemError] = [:]

  /// - Parameters:
  ///   - handler: gets events that do not answer a command of this process.
  ///   - lost: called once, when the adapter is gone: no command is answered any more.
  init(
    index: UInt16, loop: EventLoop, handler: @escaping (HCIEvent) -> Void, lost: @escaping (LinkFailure) -> Void
  ) throws(LinkFailure) {
    self.loop = loop
    self.handler = handler
    self.lost = lost
    descriptor = piconet_hci_open(index)
    if descriptor < 0 { throw LinkFailure(listening: SystemError("bind", errno), "hci\(index)") }
    do {
      watch = try loop.watch(descriptor, for: .read, handler: self)
    } catch {
      Glibc.close(descriptor)
      throw LinkFailure(listening: error, "hci\(index)")
    }
    timer = LoopTimer(loop: loop) { [weak self] in
      guard let self else { return }
      perform(conversation.deadlineReached(at: loop.now))
    }
  }

  deinit { close() }

  /// Sends a command; `completion` gets the answer's parameters after its status.
  func send(_ command: HCICommand, completion: @escaping (Answer) -> Void) {
    guard watch != nil, let (ticket, effects) = conversation.add(command, at: loop.now) else {
      return loop.executeLater { completion(.failure(LinkFailure(.busy, "too many HCI commands wait"))) }
    }
    completions[ticket] = completion
    perform(effects)
  }

  /// Sends a command without waiting for its answer, at the end.
  func post(_ command: HCICommand) { _ = write(command) }

  /// Idempotent; no completion is called afterwards.
  func close() {
    guard let watch else { return }
    watch.cancel()
    self.watch = nil
    timer?.set(nil)
    completions = [:]
    Glibc.close(descriptor)
  }

  func descriptorIsReady(_ readiness: Readiness) {
    var packet = [UInt8](repeating: 0, count: 1 + 2 + 255)
    for _ in 0..<64 where watch != nil {
      let count = recv(descriptor, &packet, packet.count, 0)
      if count < 0 {
        if errno == EAGAIN || errno == EINTR { return }
        return failed(SystemError("recv", errno))
      }
      guard let event = HCIEvent(Array(packet.prefix(count))) else { continue }
      switch event {
      case .commandComplete(let opcode, let status, let parameters):
        perform(conversation.heard(opcode: opcode, status: status, parameters: parameters, at: loop.now))
      case .commandStatus(let opcode, let status):
        perform(conversation.heard(opcode: opcode, status: status, parameters: [], at: loop.now))
      default: handler(event)
      }
    }
  }

  private func perform(_ effects: [HCIConversation.Effect]) {
    for effect in effects {
      switch effect {
      case .write(let ticket, let command):
        guard let error = write(command) else { continue }
        writeFailures[ticket] = error
        loop.executeLater { [weak self] in
          guard let self, watch != nil else { return }
          perform(conversation.notWritten(ticket, at: loop.now))
        }
      case .answered(let ticket, let command, let status, let parameters):
        let error = writeFailures.removeValue(forKey: ticket)
        guard let completion = completions.removeValue(forKey: ticket) else { continue }
        switch (status, error) {
        case (0, _): completion(.success(parameters))
        case (let status?, _): completion(.failure(LinkFailure(command, status: status)))
        case (nil, let error?): completion(.failure(LinkFailure(listening: error, "an HCI command")))
        case (nil, nil):
          completion(.failure(LinkFailure(.timedOut, "the controller does not answer a command")))
        }
      }
    }
    if watch != nil { timer?.set(conversation.nextDeadline) }
  }

  private func write(_ command: HCICommand) -> SystemError? {
    let packet = command.packet
    if Glibc.send(descriptor, packet, packet.count, Int32(MSG_NOSIGNAL)) == packet.count { return nil }
    return SystemError("send", errno)
  }

  private func failed(_ error: SystemError) {
    watch?.setInterest([])
    lost(LinkFailure(listening: error, "HCI"))
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
