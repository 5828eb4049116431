import Glibc
import PiconetSDP
import Testing

/// The part of the kernel's management interface (BlueZ, doc/mgmt-api.txt) with which tests change what an adapter is.
/// Needs CAP_NET_ADMIN.
enum ManagementInterface {
  enum Setting: UInt16 {
    case powered = 0x0005
    case lowEnergy = 0x000D
    case classic = 0x002A
  }

  /// Switches a setting of an adapter on or off.
  static func set(_ setting: Setting, _ isOn: Bool, of adapter: UInt16) throws {
    try command(setting.rawValue, adapter, [isOn ? 1 : 0])
  }

  /// Sets whether the adapter shows itself under a random address that changes now and then. The adapter has to be off.
  static func setPrivacy(_ isOn: Bool, of adapter: UInt16) throws {
    try command(0x002F, adapter, [isOn ? 1 : 0] + [UInt8](repeating: 0x5A, count: 16))
  }

  private static func command(_ opcode: UInt16, _ adapter: UInt16, _ parameters: [UInt8]) throws {
    let descriptor = socket(31, Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 1)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    // struct sockaddr_hci: family, no adapter, the control channel.
    let address: [UInt16] = [31, 0xFFFF, 3]
    let isBound = address.withUnsafeBytes { bytes in
      bytes.baseAddress.map { bind(descriptor, $0.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count)) }
    }
    try #require(isBound == 0)
    let header = [opcode, adapter, UInt16(parameters.count)].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    let packet = header + parameters
    try #require(send(descriptor, packet, packet.count, 0) == packet.count)
    for _ in 0..<64 {
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      try #require(poll(&entry, 1, 5000) == 1, "the kernel answers")
      var event = [UInt8](repeating: 0, count: 1024)
      let count = recv(descriptor, &event, event.count, 0)
      // Command Complete or Command Status, with the opcode and the status after the header.
      guard count >= 9, event[1] == 0, event[0] == 1 || event[0] == 2,
        UInt16(event[6]) | UInt16(event[7]) << 8 == opcode
      else { continue }
      return try #require(event[8] == 0, "management command \(opcode): status \(event[8])")
    }
    Issue.record("no answer to management command \(opcode)")
  }
}
