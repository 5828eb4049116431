import Foundation
import Piconet
import PiconetActors
import PiconetCalls
import Synchronization
import TestSupport
import Testing

@Suite("Signals", .timeLimit(.minutes(10)))
struct SignalTests {
  private static let changed = RemoteSignal<Int>("test.lamp", "changed")
  private static let same = RemoteSignal<String>("test.lamp", "changed")

  @Test("an emitted signal comes to members in order, with its sender and object, or to one member alone")
  func emitted() async throws {
    try await Pair.run { pair in
      _ = try await pair.service.ping(pair.toClient)
      var signals = pair.client.signals(Self.changed).makeAsyncIterator()
      try await pair.service.emit(Self.changed, 1, from: "/lamp")
      try await pair.service.emit(Self.same, "no number", from: "/lamp")
      try await pair.service.emit(Self.changed, 2, from: "/lamp", to: .member(pair.toClient))
      for number in 1...2 {
        let signal = try #require(await signals.next())
        #expect(signal.value == number && signal.path == "/lamp" && signal.sender == pair.toService)
      }
      #expect(pair.client.value(of: Self.changed, at: "/lamp", of: pair.toService) == nil, "it is not kept")
      await #expect(throws: RemoteCallError.self) { try await pair.service.emit(Self.changed, 1, from: "lamp") }
    }
  }

  @Test("a kept signal comes to a new observer with its latest value, and to members that come later")
  func kept() async throws {
    try await Pair.nodes { serviceNode, clientNode, _ in
      try await PiconetActorSystem.run(on: serviceNode) { service in
        try service.set(Self.changed, 1, of: "/lamp")
        try service.set(Self.changed, 2, of: "/lamp")
        try await PiconetActorSystem.run(on: clientNode) { client in
          let member = try #require(clientNode.session[serviceNode.id])
          var values = client.values(of: Self.changed, at: "/lamp", of: member).makeAsyncIterator()
          #expect(await values.next() == 2)
          #expect(client.value(of: Self.changed, at: "/lamp", of: member) == 2)
          var late = client.values(of: Self.changed, at: "/lamp", of: member).makeAsyncIterator()
          #expect(await late.next() == 2)
          for number in 3...500 { try service.set(Self.changed, number, of: "/lamp") }
          var last = 2
          while last < 500, let value = await values.next() {
            #expect(value > last)
            last = value
          }
          await member.disconnect()
          #expect(await values.next() == nil)
        }
      }
    }
  }

  @Test("a member that reads nothing holds signals for all up once, for a set time, and others get each")
  func deafMember() async throws {
    let session = UUID().uuidString
    try await Pair.nodes(session: session) { serviceNode, clientNode, _ in
      let address = try #require(await serviceNode.listeningAddresses.first).text
      var configuration = Pair.configuration("Deaf", session)
      configuration.mode = .client
      try await Node.run(configuration) { deafNode in
        try await Pair.join(deafNode, serviceNode, at: address)
        var settings = ActorSystemConfiguration()
        settings.signalDeadline = .seconds(10)
        try await PiconetActorSystem.run(on: serviceNode, settings) { service in
          try await PiconetActorSystem.run(on: clientNode) { client in
            let events = service.events
            let toService = try #require(deafNode.session[serviceNode.id])
            let hello = CallFrame.hello(.init(instance: 1, limits: .usual, asks: false))
            try await toService.send(hello.encoded, in: PiconetActorSystem.channel)
            if service.members.count < 2 { for await case .found in events where service.members.count == 2 { break } }
            let long = RemoteSignal<[UInt8]>("test.lamp", "long")
            // Read as they come: what waits for a reader is bounded.
            let signals = client.signals(long)
            let reading = Task { await signals.prefix(100).reduce(into: [UInt8]()) { $0.append($1.value[0]) } }
            // Ten seconds for each would be above the time limit of the suite.
            for number in 0..<100 as Range<UInt8> {
              try await service.emit(long, [number] + [UInt8](repeating: 0, count: 60_000))
            }
            #expect(await reading.value == Array(0..<100))
            // Once the reader reads again and takes each signal at once, it is told each.
            let (came, tellCame) = AsyncStream.makeStream(of: UInt8.self)
            let messages = deafNode.session.messages(in: PiconetActorSystem.longChannel)
            let waking = Task {
              for await message in messages {
                guard case .signal(let signal) = try CallFrame(decoding: message.bytes) else { continue }
                // The first of its bytes, behind the head of so many.
                if let number = signal.value.dropFirst(3).first, number >= 100 { tellCame.yield(number) }
              }
            }
            defer { waking.cancel() }
            let first = Task { await came.first { _ in true } }
            let isAwake = Mutex(false)
            let telling = Task {
              while !isAwake.withLock({ $0 }) {
                try await service.emit(long, [100] + [UInt8](repeating: 0, count: 60_000))
              }
            }
            #expect(await first.value == 100)
            isAwake.withLock { $0 = true }
            try await telling.value
            for number in 101..<121 as Range<UInt8> {
              try await service.emit(long, [number] + [UInt8](repeating: 0, count: 60_000))
            }
            var last: [UInt8] = []
            for await number in came {
              if number > 100 { last.append(number) }
              if last.count == 20 { break }
            }
            #expect(last == Array(101..<121))
          }
        }
      }
    }
  }

  @Test("one that is too large, or too many to be kept, is refused with the limit")
  func limits() async throws {
    try await Pair.run { pair in
      let large = RemoteSignal<[UInt8]>("test", "large")
      #expect(await code { try await pair.service.emit(large, [UInt8](repeating: 0, count: 70_000)) } == .tooLarge)
      for number in 0..<256 { try pair.service.set(RemoteSignal<Int>("test", "n\(number)"), 1) }
      #expect(throws: RemoteCallError.self) { try pair.service.set(Self.changed, 1) }
      try pair.service.set(RemoteSignal<Int>("test", "n7"), nil)
      try pair.service.set(Self.changed, 1)
    }
  }
}
