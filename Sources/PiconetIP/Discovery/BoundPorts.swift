import Glibc

/// The UDP ports in use in this network namespace, as the kernel lists them (proc(5), `/proc/net/udp`).
enum BoundPorts {
  private static let byteLimit = 4 << 20

  /// - Returns: nil if the list can't be read.
  static func hasUDP(_ port: UInt16, isIPv6: Bool) -> Bool? {
    list(isIPv6 ? "/proc/thread-self/net/udp6" : "/proc/thread-self/net/udp").map { isBound(port, in: $0) }
  }

  /// Each line but the first has a number and a colon, then address and port in hexadecimal digits.
  static func isBound(_ port: UInt16, in list: some StringProtocol) -> Bool {
    list.split(separator: "\n").dropFirst().contains { line in
      let fields = line.split(separator: " ", maxSplits: 2)
      guard fields.count > 1 else { return false }
      let place = fields[1].split(separator: ":")
      return place.count == 2 && UInt16(place[1], radix: 16) == port
    }
  }

  private static func list(_ path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count == 0 { return String(decoding: bytes, as: UTF8.self) }
      guard count > 0, bytes.count + count <= byteLimit else { return nil }
      bytes += buffer[..<count]
    }
  }
}
