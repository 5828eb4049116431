/// An event of a controller (Core 5.4, Vol 4 Part E 7.7), limited to those that headless discovery uses.
public enum HCIEvent: Sendable, Hashable {
  /// `parameters` are those after the status.
  case commandComplete(opcode: UInt16, status: UInt8, parameters: [UInt8])
  case commandStatus(opcode: UInt16, status: UInt8)
  case inquiryComplete
  /// A device answered an inquiry with an extended response, which may hold anything.
  case response(device: BluetoothAddress, signal: Int8, data: [UInt8])

  /// Reads a packet as the kernel gives it, with its type in front; nil for any other event, and for malformed ones.
  public init?(_ packet: [UInt8]) {
    guard packet.count >= 3, packet[0] == 0x04, Int(packet[2]) == packet.count - 3 else { return nil }
    let parameters = Array(packet[3...])
    let opcode = { (offset: Int) in UInt16(parameters[offset + 1]) << 8 | UInt16(parameters[offset]) }
    switch packet[1] {
    case 0x01 where parameters.count == 1: self = .inquiryComplete
    case 0x0E where parameters.count >= 4:
      self = .commandComplete(opcode: opcode(1), status: parameters[3], parameters: Array(parameters[4...]))
    case 0x0F where parameters.count == 4: self = .commandStatus(opcode: opcode(2), status: parameters[0])
    case 0x2F where parameters.count == 255 && parameters[0] == 1:
      let address = parameters[1..<7].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      self = .response(
        device: BluetoothAddress(rawValue: address), signal: Int8(bitPattern: parameters[14]),
        data: Array(parameters[15...]))
    default: return nil
    }
  }
}
