import CPiconetSystem
import Glibc
import PiconetBluetooth
import PiconetRuntime
import PiconetSDP

/// Listens where an SDP server does, and answers whatever a test wants; confined to the loop.
final class FakeSDPServer: DescriptorHandler {
  /// The packets that answer a question.
  typealias Behaviour = (_ transaction: UInt16, _ round: Int) -> [[UInt8]]

  private final class Client: DescriptorHandler {
    let socket: Int32
    let behaviour: Behaviour
    var watch: DescriptorWatch?
    var round = 0

    init(_ socket: Int32, _ behaviour: @escaping Behaviour) {
      self.socket = socket
      self.behaviour = behaviour
    }

    func descriptorIsReady(_ readiness: Readiness) {
      var packet = [UInt8](repeating: 0, count: 4096)
      let count = recv(socket, &packet, packet.count, 0)
      if count <= 0 { return close() }
      let answers = behaviour(UInt16(packet[1]) << 8 | UInt16(packet[2]), round)
      round += 1
      for answer in answers {
        if answer.isEmpty { return close() }
        _ = send(socket, answer, answer.count, Int32(MSG_NOSIGNAL))
      }
    }

    func close() {
      guard let watch else { return }
      watch.cancel()
      self.watch = nil
      _ = Glibc.close(socket)
    }
  }

  private let loop: EventLoop
  private let socket: BluetoothSocket
  private let behaviour: Behaviour
  private var watch: DescriptorWatch?
  private var clients: [Client] = []
  private(set) var accepted = 0

  init(on adapter: BluetoothAddress, loop: EventLoop, behaviour: @escaping Behaviour) throws {
    self.loop = loop
    self.behaviour = behaviour
    socket = try BluetoothSocket(.l2cap)
    do {
      try socket.bind(to: SocketEnd(device: adapter, port: 1))
      try socket.listen(backlog: 20)
    } catch {
      socket.close()
      throw error
    }
    watch = try loop.watch(socket.descriptor, for: .read, handler: self)
  }

  func descriptorIsReady(_ readiness: Readiness) {
    var address = sockaddr_storage()
    let connection = piconet_accept(socket.descriptor, &address)
    if connection < 0 { return }
    accepted += 1
    let client = Client(connection, behaviour)
    client.watch = try? loop.watch(connection, for: .read, handler: client)
    clients.append(client)
  }

  func close() {
    watch?.cancel()
    socket.close()
    for client in clients { client.close() }
    clients = []
  }

  /// A packet of kind 0x07 with a part of the lists.
  static func part(_ bytes: [UInt8], transaction: UInt16, continuation: [UInt8] = []) -> [UInt8] {
    let parameters =
      [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes + [UInt8(continuation.count)] + continuation
    return packet(0x07, transaction, parameters)
  }

  static func packet(_ kind: UInt8, _ transaction: UInt16, _ parameters: [UInt8], length: Int? = nil) -> [UInt8] {
    let length = length ?? parameters.count
    return [kind, UInt8(transaction >> 8), UInt8(transaction & 0xFF), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF)]
      + parameters
  }

  /// Answers with these bytes, in as many parts as it takes.
  static func parts(of bytes: [UInt8], each size: Int = 600) -> Behaviour {
    { transaction, round in
      let start = min(round * size, bytes.count)
      let end = min(start + size, bytes.count)
      return [
        part(
          Array(bytes[start..<end]), transaction: transaction,
          continuation: end < bytes.count ? [UInt8(round & 0xFF), 1, 2] : [])
      ]
    }
  }
}
