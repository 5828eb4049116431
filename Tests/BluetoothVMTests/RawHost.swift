import Foundation
import Glibc

/// The host of an adapter, in place of Linux: commands and events as the controller takes and gives them (Core
/// Specification 5.4, volume 4, part E). The kernel gets the adapter back at its end.
final class RawHost {
  struct Failure: Error, CustomStringConvertible { let description: String }

  enum Event {
    static let connectionComplete: UInt8 = 0x03
    static let connectionRequest: UInt8 = 0x04
    static let disconnectionComplete: UInt8 = 0x05
    static let commandComplete: UInt8 = 0x0E
    static let commandStatus: UInt8 = 0x0F
    static let authenticationComplete: UInt8 = 0x06
    static let linkKeyRequest: UInt8 = 0x17
    static let linkKeyNotification: UInt8 = 0x18
    static let capabilitiesRequest: UInt8 = 0x31
    static let capabilitiesResponse: UInt8 = 0x32
    static let confirmationRequest: UInt8 = 0x33
    static let pairingComplete: UInt8 = 0x36
    static let lowEnergy: UInt8 = 0x3E
  }

  private let descriptor: Int32
  private let number: Int
  /// Its address, in HCI's order of bytes.
  private(set) var address: [UInt8] = []
  /// Code and parameters of the events that have come and were not asked for yet.
  private var events: [(code: UInt8, parameters: [UInt8])] = []
  /// The length of each data packet that has come.
  private var received: [Int] = []

  /// - Parameter number: the N of hciN.
  init(_ number: Int) throws {
    // struct sockaddr_hci: AF_BLUETOOTH, the adapter, HCI_CHANNEL_USER
    let place: [UInt16] = [31, UInt16(number), 1]
    self.number = number
    descriptor = socket(31, Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 1)
    guard descriptor >= 0 else { throw Failure(description: "no socket: \(errno)") }
    guard try FaultTests.run("hciconfig hci\(number) down").status == 0 else {
      throw Failure(description: "hci\(number) does not go down")
    }
    let bound = place.withUnsafeBytes { bytes in
      bytes.withMemoryRebound(to: sockaddr.self) { bind(descriptor, $0.baseAddress, socklen_t(bytes.count)) }
    }
    guard bound == 0 else { throw Failure(description: "hci\(number) is not given: \(errno)") }
    guard try command(0x0C03) == 0 else { throw Failure(description: "hci\(number) is not reset") }
    address = Array(try answer(0x1009).dropFirst().prefix(6))
  }

  /// Gives the adapter back to the kernel.
  /// - Returns: whether it is up again.
  func end() throws -> Bool {
    close(descriptor)
    return try FaultTests.becomes("hciconfig hci\(number) up; hciconfig hci\(number) | grep -q \"UP RUNNING\"")
  }

  /// - Returns: the status with which the command was answered.
  func command(_ opcode: UInt16, _ parameters: [UInt8] = []) throws -> UInt8 {
    guard let status = try answer(opcode, parameters).first else { throw Failure(description: "an empty answer") }
    return status
  }

  /// - Returns: the parameters of the answer, beginning with the status.
  func answer(_ opcode: UInt16, _ parameters: [UInt8] = []) throws -> [UInt8] {
    let opcodeBytes = [UInt8(opcode & 0xFF), UInt8(opcode >> 8)]
    let packet = [1] + opcodeBytes + [UInt8(parameters.count)] + parameters
    guard write(descriptor, packet, packet.count) == packet.count else {
      throw Failure(description: "hci\(number) takes no command: \(errno)")
    }
    let event = try next("the answer to \(String(opcode, radix: 16))") { code, parameters in
      switch code {
      case Event.commandComplete: Array(parameters.dropFirst().prefix(2)) == opcodeBytes
      case Event.commandStatus: Array(parameters.dropFirst(2).prefix(2)) == opcodeBytes
      default: false
      }
    }
    // "Command Complete" has the number of packets and the command before it, "Command Status" after it.
    return Array(event.code == Event.commandComplete ? event.parameters.dropFirst(3) : event.parameters.prefix(1))
  }

  /// Sends an ACL data packet of so many bytes over a link, as the first of its PDU.
  func send(_ count: Int, over handle: [UInt8]) throws {
    let packet = [2] + handle + [UInt8(count & 0xFF), UInt8(count >> 8)] + [UInt8](repeating: 0, count: count)
    guard write(descriptor, packet, packet.count) == packet.count else {
      throw Failure(description: "hci\(number) takes no data: \(errno)")
    }
  }

  /// Waits for so many packets of data.
  /// - Returns: the length of each.
  func data(_ packets: Int) throws -> [Int] {
    while received.count < packets { try read("data") }
    defer { received.removeFirst(packets) }
    return Array(received.prefix(packets))
  }

  /// How many packets of data have come that no test has read.
  func dataCount() throws -> Int {
    // The answer comes after all that came before.
    _ = try answer(0x1009)
    return received.count
  }

  /// The parameters of the next event of this kind.
  func event(_ code: UInt8) throws -> [UInt8] {
    try next("event \(String(code, radix: 16))") { other, _ in other == code }.parameters
  }

  /// How many events of this kind have come that no test has read.
  func count(_ code: UInt8) throws -> Int {
    // The answer comes after all that came before.
    _ = try answer(0x1009)
    return events.count { $0.code == code }
  }

  private func next(
    _ what: String, _ matches: (UInt8, [UInt8]) -> Bool
  ) throws -> (code: UInt8, parameters: [UInt8]) {
    while true {
      if let index = events.firstIndex(where: { matches($0.code, $0.parameters) }) { return events.remove(at: index) }
      try read(what)
    }
  }

  private func read(_ what: String) throws {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&waiting, 1, 10_000) == 1 else {
      throw Failure(description: "hci\(number) has not got \(what); it has got \(events)")
    }
    var packet = [UInt8](repeating: 0, count: 4096)
    let length = Glibc.read(descriptor, &packet, packet.count)
    guard length >= 3 else { throw Failure(description: "hci\(number) is gone: \(errno)") }
    switch packet[0] {
    case 2: received.append(length - 5)
    case 4: events.append((packet[1], Array(packet[3..<length])))
    default: break
    }
  }
}
