import PiconetEngine
import PiconetRuntime
import PiconetSDP

/// Finds nodes of one session by inquiries and reads their records; confined to the loop.
///
/// Inquiring and connecting interfere with each other, so an inquiry is broken off to read a record, but only every
/// other one. Those in between run their full time, and decide which peers are gone. While the radio is busy it does
/// neither.
///
/// Two nodes find each other at about the same time, and two devices that page each other at once may both fail. So the
/// one with the larger address waits for the other; afterwards both can use the same link.
final class InquiryScanner {
  private enum State { case idle, starting, running, cancelling }

  /// The value that a controller reports if it does not measure.
  private static let unknownSignal: Int8 = 127

  private let loop: EventLoop
  private let controller: HCIController
  private let reader: any ServiceRecordReader
  private let service: BluetoothUUID
  private let adapter: BluetoothAddress
  private let options: HeadlessDiscovery.Options
  private let report: (InquiryTable.Effect) -> Void
  private var table: InquiryTable
  /// Signal strengths in dBm, from when each device was last heard; no more than `InquiryTable.deviceLimit` entries.
  private(set) var signals: [BluetoothAddress: Int8] = [:]
  private var state = State.idle
  private var isHeldOff: Bool
  private var mayInterrupt = true
  private var isClosed = false
  private var waiting: [(device: BluetoothAddress, psm: UInt16?)] = []
  private var readings: [BluetoothAddress: any DialCancellation] = [:]
  /// Ends the pause between inquiries.
  private var pause: LoopTimer?
  /// Ends the wait of the side with the larger address.
  private var courtesy: LoopTimer?
  /// Ends an inquiry if the controller does not report its end.
  private var guardTimer: LoopTimer?

  init(
    service: BluetoothUUID, adapter: BluetoothAddress, controller: HCIController, reader: any ServiceRecordReader,
    loop: EventLoop,
    options: HeadlessDiscovery.Options, isHeldOff: Bool, report: @escaping (InquiryTable.Effect) -> Void
  ) {
    self.service = service
    self.adapter = adapter
    self.controller = controller
    self.reader = reader
    self.loop = loop
    self.options = options
    self.isHeldOff = isHeldOff
    self.report = report
    table = InquiryTable(service: service, patience: options.patience)
    pause = LoopTimer(loop: loop) { [weak self] in self?.goOn() }
    courtesy = LoopTimer(loop: loop) { [weak self] in
      guard let self, !isHeldOff, state == .idle else { return }
      startReading(isCourteous: false)
    }
    guardTimer = LoopTimer(loop: loop) { [weak self] in self?.cancelInquiry() }
  }

  func start() { goOn() }

  /// - Parameter isHeldOff: whether others use the radio.
  func setHeldOff(_ isHeldOff: Bool) {
    if isHeldOff == self.isHeldOff { return }
    self.isHeldOff = isHeldOff
    if isHeldOff { cancelInquiry() } else { goOn() }
  }

  /// Handles an event that does not answer a command.
  func heard(_ event: HCIEvent) {
    switch event {
    case .response(let device, let signal, let data):
      if signal != Self.unknownSignal, signals[device] != nil || signals.count < InquiryTable.deviceLimit {
        signals[device] = signal
      }
      perform(table.responded(device, data))
      if !waiting.isEmpty, mayInterrupt { cancelInquiry() }
    case .inquiryComplete where state == .running:
      guardTimer?.set(nil)
      state = .idle
      mayInterrupt = true
      pause?.set(after: options.pause)
      perform(table.inquiryEnded())
      goOn()
    default: break
    }
  }

  func close() {
    if isClosed { return }
    isClosed = true
    pause?.set(nil)
    courtesy?.set(nil)
    guardTimer?.set(nil)
    if state == .running || state == .starting { controller.post(.cancelInquiry) }
    for reading in readings.values { reading.cancel() }
    readings = [:]
    waiting = []
  }

  /// Begins the next task: reads the records that are due, and only then inquires.
  private func goOn() {
    guard !isClosed, !isHeldOff, state == .idle else { return }
    startReading(isCourteous: true)
    guard waiting.isEmpty, readings.isEmpty, pause?.deadline == nil else { return }
    state = .starting
    controller.send(.inquiry(length: options.inquiryLength)) { [weak self] answer in
      guard let self, !isClosed else { return }
      switch answer {
      case .success:
        state = .running
        guardTimer?.set(after: .milliseconds(1280 * Int(options.inquiryLength) + 2000))
        if isHeldOff { cancelInquiry() }
      case .failure:
        // Another program is inquiring, or the adapter is off: tries later.
        state = .idle
        pause?.set(after: options.pause + .seconds(1))
      }
    }
  }

  private func cancelInquiry() {
    guard state == .running else { return }
    guardTimer?.set(nil)
    state = .cancelling
    mayInterrupt = false
    controller.send(.cancelInquiry) { [weak self] _ in
      // A refusal means that it had ended meanwhile.
      guard let self, !isClosed else { return }
      state = .idle
      table.inquiryCancelled()
      goOn()
    }
  }

  private func startReading(isCourteous: Bool) {
    let due = waiting.filter { !isCourteous || adapter < $0.device }
    waiting.removeAll { !isCourteous || adapter < $0.device }
    if !waiting.isEmpty, courtesy?.deadline == nil { courtesy?.set(after: options.courtesy) }
    for (device, psm) in due {
      readings[device] = reader.readRecords(of: service, on: BluetoothPlace(device: device, port: psm)) {
        [weak self] result in
        guard let self, !isClosed else { return }
        readings[device] = nil
        perform(table.answered(device, with: try? result.get()))
        goOn()
      }
    }
  }

  private func perform(_ effects: [InquiryTable.Effect]) {
    for effect in effects where !isClosed {
      if case .read(let device, let psm) = effect { waiting.append((device, psm)) } else { report(effect) }
    }
  }
}
