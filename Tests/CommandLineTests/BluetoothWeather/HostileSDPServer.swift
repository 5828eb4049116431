#if Bluetooth
  import Foundation
  import Glibc
  import PiconetBluetooth
  import PiconetSDP
  import Synchronization
  import Testing

  /// Answers questions for records in place of the adapter's own server, with whatever a test likes. It listens on the
  /// same number, but only of this adapter, and has to be there before bluetoothd.
  final class HostileSDPServer: @unchecked Sendable {
    // Sendable is right: the descriptors are constant, and the clients are touched by the server's thread only.

    /// The packets that answer a question. No packet means silence; an empty one closes the channel.
    typealias Answer = @Sendable (_ transaction: UInt16, _ round: Int) -> [[UInt8]]

    private let socket: BluetoothSocket
    private let answer: Answer
    /// A pipe whose other end `close` closes.
    private let wake: (read: Int32, write: Int32)
    private let hasEnded = DispatchSemaphore(value: 0)
    private var clients: [(descriptor: Int32, round: Int)] = []
    private static let clientLimit = 32
    private let count = Atomic(0)

    /// How many have connected so far.
    var clientCount: Int { count.load(ordering: .relaxed) }

    init(on adapter: String, answer: @escaping Answer) throws {
      let device = try #require(try AdapterTable.read().adapter(.named(adapter))).device
      self.answer = answer
      var ends: [Int32] = [0, 0]
      try #require(pipe(&ends) == 0)
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      wake = (ends[0], ends[1])
      socket = try BluetoothSocket(.l2cap)
      do {
        try socket.bind(to: SocketEnd(device: device, port: 1))
        try socket.listen(backlog: 20)
      } catch {
        socket.close()
        throw error
      }
      Thread.detachNewThread { [self] in serve() }
    }

    func close() {
      Glibc.close(wake.write)
      hasEnded.wait()
    }

    private func serve() {
      while true {
        var entries = ([wake.read, socket.descriptor] + clients.map(\.descriptor)).map {
          pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        if poll(&entries, nfds_t(entries.count), -1) < 0, errno != EINTR { break }
        if entries[0].revents != 0 { break }
        for (index, entry) in entries.enumerated().dropFirst(2).reversed() where entry.revents != 0 { serve(index - 2) }
        if entries[1].revents != 0, clients.count < Self.clientLimit {
          let client = accept(socket.descriptor, nil, nil)
          if client >= 0 {
            clients.append((client, 0))
            count.add(1, ordering: .relaxed)
          }
        }
      }
      for client in clients { Glibc.close(client.descriptor) }
      socket.close()
      Glibc.close(wake.read)
      hasEnded.signal()
    }

    private func serve(_ index: Int) {
      let descriptor = clients[index].descriptor
      var packet = [UInt8](repeating: 0, count: 4096)
      let count = recv(descriptor, &packet, packet.count, Int32(MSG_DONTWAIT))
      if count < 0, errno == EAGAIN { return }
      let packets = count < 3 ? [[]] : answer(UInt16(packet[1]) << 8 | UInt16(packet[2]), clients[index].round)
      clients[index].round += 1
      for packet in packets {
        guard !packet.isEmpty else {
          Glibc.close(descriptor)
          clients.remove(at: index)
          return
        }
        _ = send(descriptor, packet, packet.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
      }
    }

    // MARK: Answers (Core 5.4, Vol 3 Part B 4.2 and 4.7.2)

    static func packet(_ transaction: UInt16, _ parameters: [UInt8], length: Int? = nil) -> [UInt8] {
      let length = length ?? parameters.count
      return [
        0x07, UInt8(transaction >> 8), UInt8(transaction & 0xFF), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF),
      ]
        + parameters
    }

    static func part(_ transaction: UInt16, _ bytes: [UInt8], continuation: [UInt8] = []) -> [UInt8] {
      packet(
        transaction,
        [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes + [UInt8(continuation.count)] + continuation)
    }

    /// Answers with these bytes, in as many parts as it takes.
    static func parts(_ bytes: [UInt8]) -> Answer {
      { transaction, round in
        let start = min(round * 600, bytes.count)
        let end = min(start + 600, bytes.count)
        return [part(transaction, Array(bytes[start..<end]), continuation: end < bytes.count ? [1, 2] : [])]
      }
    }
  }
#endif
