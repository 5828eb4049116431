import PiconetEngine
import PiconetWire
import TestSupport
import Testing

@testable import Piconet

extension SessionSuite {
  @Suite(
    "Messages", .timeLimit(.minutes(15)),
    .machine("--adapters 3 --env PICONET_SUITE=rfcomm", "--adapters 3 --env PICONET_SUITE=le", or: .anywhere))
  struct MessageTests {
    @Test(
      "reliable messages of all sizes up to the limit arrive once and in order, those above one frame whole",
      arguments: SuiteTransport.all)
    func sizes(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, _) = try await pair.connect()
          let sizes = [0, 1, 63, 64, 1000, 1017, 1018, 16_381, 16_382, 50_000, 95 * 1024]
          let rounds = transport.amount(20)
          async let received = pair.server.session.take(sizes.count * rounds)
          for round in 0..<rounds {
            for (index, size) in sizes.enumerated() {
              try await onClient.send(randomBytes(size, seed: UInt64(round * 100 + index)))
            }
          }
          let all = await received
          #expect(all.count == sizes.count * rounds)
          for (position, message) in all.enumerated() {
            let (round, index) = (position / sizes.count, position % sizes.count)
            #expect(message.mode == .reliable && message.sender == pair.client.id)
            #expect(Array(message.bytes) == randomBytes(sizes[index], seed: UInt64(round * 100 + index)))
          }
        }
      }
    }

    @Test("a message of two hundred frames arrives whole", arguments: SuiteTransport.all)
    func chunking(over transport: SuiteTransport) async throws {
      let size = transport.amount(200) * 16_381
      let limit: @Sendable (inout NodeConfiguration) -> Void = { $0.messageLimit = size }
      try await SuiteWorld.run(transport) { world in
        try await world.pair(server: limit, client: limit) { pair in
          let (onClient, _) = try await pair.connect()
          let message = randomBytes(size)
          try await onClient.send(message)
          #expect(await pair.server.session.messages.first().map { Array($0.bytes) } == message)
        }
      }
    }

    @Test(
      "messages of ten tasks at once, in both directions, arrive once each, those of one task in its order",
      arguments: SuiteTransport.all)
    func concurrency(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, onServer) = try await pair.connect()
          let each = transport.amount(300)
          async let onServerSide = pair.server.session.take(10 * each)
          async let onClientSide = pair.client.session.take(10 * each)
          try await withThrowingTaskGroup(of: Void.self) { group in
            for (task, member) in (0..<10).flatMap({ task in [(task, onClient), (task, onServer)] }) {
              group.addTask {
                for number in 0..<each {
                  try await member.send(
                    [UInt8(task), UInt8(number >> 8), UInt8(number & 255)] + [UInt8](repeating: 0, count: task * 700))
                }
              }
            }
            try await group.waitForAll()
          }
          for received in [await onServerSide, await onClientSide] {
            var next = [Int](repeating: 0, count: 10)
            for message in received {
              let bytes = Array(message.bytes)
              #expect(Int(bytes[1]) << 8 + Int(bytes[2]) == next[Int(bytes[0])])
              next[Int(bytes[0])] += 1
            }
            #expect(next == [Int](repeating: each, count: 10))
          }
        }
      }
    }

    @Test(
      "a reader that reads nothing stops its sender; what waits is bounded on both sides; reading lets it go on",
      arguments: SuiteTransport.all)
    func slowReader(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, onServer) = try await pair.connect()
          let (task, count) = sendUntilItWaits(onClient, size: 10_000)
          let window = 1 << 20
          // The receiver holds a window, the sender's queue another, and no more however long this goes on. Over L2CAP
          // the receiver's window is a part of what the link holds unread, which is up to the system.
          let least = transport.kind == .l2cap ? 95 * 1024 - 20_000 : window - 20_000
          var before = -1
          try await world.until("the window is full") {
            defer { before = count.value }
            return pair.server.core.log.cost >= least && onClient.budgets[0].waitingCount > 0 && count.value == before
          }
          #expect(pair.server.core.log.cost <= window)
          #expect(count.value * 10_032 <= 2 * window + 10_032)
          for message in await pair.server.session.take(min(200, count.value)) {
            #expect(message.bytes.count == 10_000)
          }
          try await world.until("the sender goes on") { count.value > before + 50 }
          // The receiver leaves: a task that waits is told why.
          await onServer.disconnect()
          let error = await task.value
          #expect(error?.code == .left && error?.blame == .peer, "\(String(describing: error))")
          #expect(await failure { try await onClient.send([1]) }?.code == .left)
        }
      }
    }
  }
}

/// Sends until a send has to wait; `count` says how many were taken before.
func sendUntilItWaits(_ member: Member, size: Int) -> (task: Task<PiconetError?, Never>, count: Watched<Int>) {
  let count = Watched(0)
  let task = Task { () -> PiconetError? in
    do throws(PiconetError) {
      while true {
        try await member.send([UInt8](repeating: 1, count: size))
        count.update { $0 += 1 }
      }
    } catch {
      return error
    }
  }
  return (task, count)
}
