import PiconetEngine
import PiconetWire
import Synchronization
import Testing

@testable import Piconet

extension SessionSuite {
  @Suite("Streams", .timeLimit(.minutes(15)))
  struct StreamTests {
    @Test(
      "bytes of several streams at once, in both directions, arrive under their names, whole and in order",
      arguments: SuiteTransport.all)
    func severalAtOnce(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, onServer) = try await pair.connect()
          let sizes = [0, 1, 1_000, 65_536, 65_537, transport.amount(1_000_000)]
          try await withThrowingTaskGroup(of: Void.self) { group in
            for (member, session) in [(onClient, pair.server.session), (onServer, pair.client.session)] {
              group.addTask {
                try await withThrowingTaskGroup(of: Void.self) { writers in
                  for (number, size) in sizes.enumerated() {
                    writers.addTask {
                      let stream = try await member.openStream(named: "\(number)")
                      try await stream.write(randomBytes(size, seed: UInt64(number)))
                      try await stream.finish()
                    }
                  }
                  try await writers.waitForAll()
                }
              }
              group.addTask {
                try await withThrowingTaskGroup(of: Void.self) { readers in
                  for stream in await session.takeStreams(sizes.count) {
                    readers.addTask {
                      let number = try #require(Int(stream.name))
                      #expect(stream.sender.id != member.id)
                      let bytes = try await stream.readAll()
                      #expect(bytes == randomBytes(sizes[number], seed: UInt64(number)), "stream \(number)")
                    }
                  }
                  try await readers.waitForAll()
                }
              }
            }
            try await group.waitForAll()
          }
          #expect(pair.client.core.streamCount == 0 && pair.server.core.streamCount == 0)
        }
      }
    }

    @Test(
      "a writer that has finished is told so when all was read; the reader gets the end, and its own stream goes on",
      arguments: SuiteTransport.all)
    func halfClose(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, onServer) = try await pair.connect()
          let there = try await onClient.openStream(named: "there")
          let back = try await onServer.openStream(named: "back")
          let reader = try #require(await pair.server.session.streams.first())
          let onBack = try #require(await pair.client.session.streams.first())
          let isFinished = Watched(false)
          let finishing = Task {
            try await there.write("all that there is".utf8)
            try await there.finish()
            isFinished.update { $0 = true }
          }
          // In parts: what is not read keeps the writer waiting.
          #expect(try await reader.read(upTo: 3).map { Array($0) } == Array("all".utf8))
          try await onClient.send([1])
          _ = await pair.server.session.messages.first()
          #expect(!isFinished.value)
          #expect(try await reader.readAll() == Array(" that there is".utf8))
          #expect(try await reader.read(upTo: 1) == nil)
          try await finishing.value
          #expect(await failure { try await there.write([1]) }?.code == .invalidArgument)
          // The other direction is still open.
          async let sent: Void = {
            try await back.write([7]); try await back.finish()
          }()
          #expect(try await onBack.readAll() == [7])
          try await sent
        }
      }
    }

    @Test("a writer that cancels ends its reader with the reason", arguments: SuiteTransport.all)
    func writerCancels(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, _) = try await pair.connect()
          let writer = try await onClient.openStream(named: "")
          try await writer.write([1, 2, 3])
          let reader = try #require(await pair.server.session.streams.first())
          #expect(try await reader.read(upTo: 1).map { Array($0) } == [1])
          let reading = Task { try await reader.readAll() }
          writer.cancel(.notWanted, detail: "enough")
          let error = await failure { try await reading.value }
          #expect(error?.code == .notWanted && error?.blame == .peer && error?.detail == "enough")
          #expect(await failure { try await writer.write([4]) }?.code == .invalidArgument)
          #expect(await failure { try await writer.finish() }?.code == .invalidArgument)
        }
      }
    }

    @Test(
      "a reader that cancels ends a waiting write, and a waiting finish, with the reason", arguments: SuiteTransport.all
    )
    func readerCancels(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, _) = try await pair.connect()
          let writer = try await onClient.openStream(named: "")
          let (task, _) = writeUntilItWaits(writer)
          let reader = try #require(await pair.server.session.streams.first())
          try await world.until("a write waits") { writer.state.budget.waitingCount > 0 }
          reader.cancel(.diskFull, detail: "no space")
          let error = await task.value
          #expect(error?.code == .diskFull && error?.blame == .peer && error?.detail == "no space")
          #expect(await failure { try await writer.finish() }?.code == .diskFull)
          #expect(await failure { try await reader.read(upTo: 1) }?.code == .invalidArgument)
          let second = try await onClient.openStream(named: "")
          try await second.write([1])
          let finishing = Task { try await second.finish() }
          // A stream that is dropped is cancelled.
          _ = try #require(await pair.server.session.streams.first())
          #expect(await failure { try await finishing.value }?.code == .cancelled)
        }
      }
    }

    @Test(
      "a reader that reads nothing stops its own stream only, within its bounds; reading lets it go on",
      arguments: SuiteTransport.all)
    func slowReader(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, _) = try await pair.connect()
          let slow = try await onClient.openStream(named: "slow")
          let (task, written) = writeUntilItWaits(slow)
          let slowReader = try #require(await pair.server.session.streams.first())
          var before = -1
          try await world.until("the stream is full") {
            defer { before = written.value }
            return slow.state.budget.waitingCount > 0 && slowReader.buffer.count > 0 && written.value == before
          }
          #expect(slowReader.buffer.count <= 64 << 10)
          #expect(written.value <= (64 << 10) + NodeCore.streamBudget + 20_000)
          // Other traffic passes it: streams, and messages.
          let size = transport.amount(500_000)
          let quick = try await onClient.openStream(named: "quick")
          async let sent: Void = {
            try await quick.write(randomBytes(size)); try await quick.finish()
          }()
          let reader = try #require(await pair.server.session.streams.first())
          #expect(try await reader.readAll() == randomBytes(size))
          try await sent
          try await onClient.send([1])
          #expect(await pair.server.session.messages.first() != nil)
          #expect(written.value <= (64 << 10) + NodeCore.streamBudget + 20_000)
          var read = 0
          for try await bytes in slowReader {
            #expect(bytes.count <= 1 << 20)
            read += bytes.count
            if read > 1 << 19 { break }
          }
          try await world.until("the writer goes on") { written.value > before + (1 << 18) }
          task.cancel()
          #expect(await task.value?.code == .cancelled)
        }
      }
    }

    @Test("names and numbers of streams have limits; a stream that is over makes room", arguments: SuiteTransport.all)
    func limits(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair(server: { $0.streamLimit = 3 }) { pair in
          let (onClient, _) = try await pair.connect()
          let name = String(repeating: "é", count: 512)
          let tooLong = await failure { try await onClient.openStream(named: name + "n") }
          #expect(tooLong?.code == .limitExceeded && tooLong?.detail.contains("1024") == true)
          let first = try await onClient.openStream(named: name)
          let others = [try await onClient.openStream(named: ""), try await onClient.openStream(named: "")]
          let tooMany = await failure { try await onClient.openStream(named: "") }
          #expect(tooMany?.code == .limitExceeded && tooMany?.detail.contains("3 streams") == true)
          let reader = try #require(await pair.server.session.streams.first())
          #expect(reader.name == name)
          async let end = reader.read(upTo: 1)
          try await first.finish()
          #expect(try await end == nil)
          let again = try await onClient.openStream(named: "again")
          #expect(await pair.server.session.takeStreams(3).map(\.name) == ["", "", "again"])
          withExtendedLifetime((others, again)) {}
        }
      }
    }

    @Test("a member that leaves ends its streams on both sides with the reason", arguments: SuiteTransport.all)
    func leaving(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, onServer) = try await pair.connect()
          let there = try await onClient.openStream(named: "there")
          let back = try await onServer.openStream(named: "back")
          try await there.write([1])
          try await back.write([2])
          let reader = try #require(await pair.server.session.streams.first())
          let onBack = try #require(await pair.client.session.streams.first())
          #expect(try await reader.read(upTo: 9).map { Array($0) } == [1])
          await onClient.disconnect()
          let read = await failure { try await reader.read(upTo: 1) }
          #expect(read?.code == .left && read?.blame == .peer, "\(String(describing: read))")
          #expect(await failure { try await onBack.readAll() }?.code == .left)
          try await world.until("the writer is told") { back.state.stopped != nil }
          for writer in [there, back] {
            #expect(await failure { try await writer.write([3]) }?.code == .left)
            #expect(await failure { try await writer.finish() }?.code == .left)
          }
          #expect(await failure { try await onClient.openStream(named: "") }?.code == .left)
        }
      }
    }

    @Test(
      "a cancelled read leaves the stream to the next one, a cancelled finish cancels it", arguments: SuiteTransport.all
    )
    func cancelledTasks(over transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, _) = try await pair.connect()
          let writer = try await onClient.openStream(named: "")
          let reader = try #require(await pair.server.session.streams.first())
          let waiting = Task { try await reader.read(upTo: 1) }
          waiting.cancel()
          #expect(await failure { try await waiting.value }?.code == .cancelled)
          try await writer.write([5])
          #expect(try await reader.read(upTo: 1).map { Array($0) } == [5])
          try await writer.write([6])
          let finishing = Task { try await writer.finish() }
          try await world.until("the end is there") { reader.buffer.isFinished }
          finishing.cancel()
          #expect(await failure { try await finishing.value }?.code == .cancelled)
          // What was not read is lost.
          try await world.until("the reader is told") { reader.buffer.isOver }
          let error = await failure { try await reader.read(upTo: 1) }
          #expect(error?.code == .cancelled && error?.blame == .peer)
        }
      }
    }
  }
}

extension Session {
  /// The next streams.
  func takeStreams(_ count: Int) async -> [IncomingStream] {
    var all: [IncomingStream] = []
    for await stream in streams {
      all.append(stream)
      if all.count == count { break }
    }
    return all
  }
}

extension IncomingStream {
  /// All bytes up to the end.
  func readAll() async throws(PiconetError) -> [UInt8] {
    var bytes: [UInt8] = []
    for try await part in self { bytes += part }
    return bytes
  }
}

/// Writes until a write has to wait; `written` says how many bytes were taken before.
func writeUntilItWaits(_ stream: OutgoingStream) -> (task: Task<PiconetError?, Never>, written: Watched<Int>) {
  let written = Watched(0)
  let task = Task { () -> PiconetError? in
    do throws(PiconetError) {
      while true {
        try await stream.write([UInt8](repeating: 1, count: 10_000))
        written.update { $0 += 10_000 }
      }
    } catch {
      return error
    }
  }
  return (task, written)
}
