import Glibc
import PiconetEngine
import PiconetRuntime
import PiconetSDP

@testable import PiconetBluetooth

/// Reads records by hand, on a thread, so that the tests of discovery need nothing else: one request of
/// ServiceSearchAttribute (Core 5.4, Vol 3 Part B 4.7), with its continuations.
final class DirectRecordReader: ServiceRecordReader {
  private final class NoCancellation: DialCancellation { func cancel() {} }

  private let loop: EventLoop
  private let adapter: BluetoothAddress
  private let worker: WorkerThread

  init(loop: EventLoop, adapter: BluetoothAddress, worker: WorkerThread) {
    self.loop = loop
    self.adapter = adapter
    self.worker = worker
  }

  func readRecords(
    of service: BluetoothUUID, on device: BluetoothPlace,
    completion: @escaping (Result<[NodeRecord], LinkFailure>) -> Void
  ) -> any DialCancellation {
    let adapter = self.adapter
    _ = worker.submit(
      answering: loop, { Self.read(service, adapter, device.device) }, then: completion)
    return NoCancellation()
  }

  private static func address(_ device: BluetoothAddress, psm: UInt16) -> [UInt8] {
    let bytes = (0..<6).map { UInt8(truncatingIfNeeded: device.rawValue >> UInt64(8 * $0)) }
    return [31, 0, UInt8(psm & 0xFF), UInt8(psm >> 8)] + bytes + [0, 0, 0, 0]
  }

  private static func read(_ service: BluetoothUUID, _ adapter: BluetoothAddress, _ device: BluetoothAddress)
    -> Result<[NodeRecord], LinkFailure>
  {
    let descriptor = socket(31, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return .failure(LinkFailure(.notAvailable)) }
    defer { Glibc.close(descriptor) }
    var limit = timeval(tv_sec: 3, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
    }
    func call(_ body: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32, _ bytes: [UInt8]) -> Int32 {
      bytes.withUnsafeBytes { raw in
        guard let start = raw.baseAddress else { return -1 }
        return body(descriptor, start.assumingMemoryBound(to: sockaddr.self), socklen_t(raw.count))
      }
    }
    guard call(bind, address(adapter, psm: 0)) == 0, call(connect, address(device, psm: 1)) == 0 else {
      return .failure(LinkFailure(.unreachable, String(cString: strerror(errno))))
    }
    var answer: [UInt8] = []
    var continuation: [UInt8] = [0]
    for turn in 0..<UInt8(32) {
      let parameters =
        [0x35, 0x11, 0x1C] + service.bytes + [0xFF, 0xFF, 0x35, 5, 0x0A, 0, 0, 0xFF, 0xFF] + continuation
      let request = [6, 0, turn, 0, UInt8(parameters.count)] + parameters
      var buffer = [UInt8](repeating: 0, count: 4096)
      guard send(descriptor, request, request.count, 0) == request.count,
        case let count = recv(descriptor, &buffer, buffer.count, 0), count >= 8, buffer[0] == 7
      else { return .failure(LinkFailure(.timedOut)) }
      let length = Int(buffer[5]) << 8 | Int(buffer[6])
      guard 7 + length < count else { return .failure(LinkFailure(.other)) }
      answer += buffer[7..<(7 + length)]
      continuation = Array(buffer[(7 + length)..<count])
      if continuation[0] == 0 { break }
    }
    guard let lists = try? AttributeList.lists(decoding: answer) else { return .failure(LinkFailure(.other)) }
    let records = lists.compactMap { try? NodeRecord($0, of: service) }
    return records.isEmpty ? .failure(LinkFailure(.noService)) : .success(records)
  }
}
