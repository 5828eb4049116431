/// A command to a controller (Core 5.4, Vol 4 Part E 7), limited to what headless discovery uses.
public struct HCICommand: Sendable, Hashable {
  public var opcode: UInt16
  public var parameters: [UInt8]

  public init(opcode: UInt16, parameters: [UInt8] = []) {
    self.opcode = opcode
    self.parameters = parameters
  }

  /// The packet as the kernel takes it, with its type in front.
  public var packet: [UInt8] {
    [0x01, UInt8(opcode & 0xFF), UInt8(opcode >> 8), UInt8(truncatingIfNeeded: parameters.count)] + parameters
  }

  /// Looks for discoverable devices with the general inquiry access code.
  /// - Parameter length: in units of 1.28 s.
  public static func inquiry(length: UInt8) -> HCICommand {
    HCICommand(opcode: 0x0401, parameters: [0x33, 0x8B, 0x9E, length, 0])
  }
  public static let cancelInquiry = HCICommand(opcode: 0x0402)
  public static let readScanEnable = HCICommand(opcode: 0x0C19)
  /// Bit 0: discoverable, bit 1: connectable.
  public static func writeScanEnable(_ value: UInt8) -> HCICommand { HCICommand(opcode: 0x0C1A, parameters: [value]) }
  public static let readInquiryMode = HCICommand(opcode: 0x0C44)
  /// 2 means with extended responses.
  public static func writeInquiryMode(_ value: UInt8) -> HCICommand { HCICommand(opcode: 0x0C45, parameters: [value]) }
  public static let readInquiryResponse = HCICommand(opcode: 0x0C51)
  /// The response, padded to 240 bytes; anything longer is cut.
  public static func writeInquiryResponse(_ data: [UInt8], correction: UInt8 = 0) -> HCICommand {
    let whole = data.prefix(AdvertisingData.Capacity.inquiryResponse)
    let padding = [UInt8](repeating: 0, count: AdvertisingData.Capacity.inquiryResponse - whole.count)
    return HCICommand(opcode: 0x0C52, parameters: [correction] + whole + padding)
  }
}
