import CPiconetSystem
import Glibc
import PiconetIP
import PiconetWire

@testable import FarAdapter

/// One end of a control connection that says what a test tells it to. Its calls do not wait, apart from `awaitInput`.
final class RawSocket {
  private let descriptor: Int32
  private var decoder = RelayFrameDecoder<AdapterReport>()
  private(set) var reports: [AdapterReport] = []
  private(set) var hasEnded = false

  init(to place: HostPort) throws {
    descriptor = try ControlSocket.connect(place, milliseconds: 10_000)
  }

  /// The next connection to a listening socket; nil if no connection waits.
  init?(accepting listener: Int32) {
    var address = sockaddr_storage()
    descriptor = piconet_accept(listener, &address)
    if descriptor < 0 { return nil }
  }

  deinit { close(descriptor) }

  func send(_ bytes: [UInt8]) { _ = piconet_send(descriptor, bytes, bytes.count) }
  func send(_ order: AdapterOrder) { send(RelayFrameDecoder<AdapterOrder>.bytes(of: order)) }
  func send(_ report: AdapterReport) { send(RelayFrameDecoder<AdapterReport>.bytes(of: report)) }

  /// Says that no more comes: the other end reads to the end of what was sent.
  func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Waits until there is something to read, or the end.
  /// - Returns: whether there is, within a minute.
  func awaitInput() -> Bool { Self.awaitInput(descriptor) }

  static func awaitInput(_ descriptor: Int32) -> Bool {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&waiting, 1, 60_000) == 1
  }

  /// Reads the bytes that have come.
  func look() throws {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while !hasEnded {
      let count = piconet_receive(descriptor, &buffer, buffer.count)
      if count < 0, errno == EAGAIN { return }
      if count <= 0 { hasEnded = true } else { decoder.push(buffer[..<count]) }
      while let report = try decoder.next() { reports.append(report) }
    }
  }
}
