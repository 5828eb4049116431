/// The place where a node listens over Bluetooth, as written in the text of a transport address:
/// `00:11:22:33:44:55/0x1005`, a device and the PSM of L2CAP or the channel of RFCOMM. Without the number the device is
/// asked for it by SDP.
///
/// An LE device with a random address is written `C0:11:22:33:44:55(random)/0x0081`.
public struct BluetoothPlace: Sendable, Hashable, LosslessStringConvertible {
  /// The device.
  public var device: BluetoothAddress
  /// Whether the address is a random one, which only LE has (Core 5.4, Vol 6 Part B 1.3).
  public var isRandom: Bool
  /// The PSM, or RFCOMM's channel; nil: to be looked up.
  public var port: UInt16?

  public init(device: BluetoothAddress, isRandom: Bool = false, port: UInt16? = nil) {
    self.device = device
    self.isRandom = isRandom
    self.port = port
  }

  /// The number is decimal, or hexadecimal after `0x`, and not 0; anything else gives nil.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    var address = parts.first ?? ""
    isRandom = address.hasSuffix("(random)")
    if isRandom { address.removeLast("(random)".count) }
    guard let device = BluetoothAddress(address) else { return nil }
    self.device = device
    guard parts.count == 2 else { return }
    let isHexadecimal = parts[1].hasPrefix("0x")
    let digits = isHexadecimal ? String(parts[1].dropFirst(2)) : parts[1]
    guard digits.first?.isHexDigit == true, let port = UInt16(digits, radix: isHexadecimal ? 16 : 10), port != 0
    else { return nil }
    self.port = port
  }

  public var description: String {
    let address = "\(device)\(isRandom ? "(random)" : "")"
    guard let port else { return address }
    // RFCOMM's channels are numbers up to 30; PSMs are written in hexadecimal by custom.
    if port <= 30 { return "\(address)/\(port)" }
    let digits = String(port, radix: 16)
    return "\(address)/0x\(String(repeating: "0", count: 4 - digits.count))\(digits)"
  }
}
