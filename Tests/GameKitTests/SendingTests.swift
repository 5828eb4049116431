import Foundation
import Piconet
import Synchronization
import TestSupport
import Testing

@testable import GameKit

@Suite("Sending in sessions of GameKit", .timeLimit(.minutes(10)))
struct SendingTests {
  @Test("95 KiB go at once, and one byte more throws dataTooBigError")
  func largest() async throws {
    try await connected { anna, ben in
      let largest = Data(repeating: 7, count: 95 * 1024)
      try anna.session.sendData(toAllPeers: largest, with: .reliable)
      // Longer than a frame: it goes reliably.
      try anna.session.sendData(toAllPeers: largest, with: .unreliable)
      try anna.session.sendData(toAllPeers: Data(), with: .reliable)
      await ben.wait(for: "much data", times: 2)
      await ben.wait(for: "data Anna ")
      #expect(ben.received == [largest, largest, Data()])
      for mode in [GKSendDataMode.reliable, .unreliable] {
        #expect(throwsCode(.dataTooBigError) { try anna.session.sendData(toAllPeers: largest + [0], with: mode) })
      }
    }
  }

  @Test("wrong parameters throw, and no peer gets anything")
  func wrongParameters() async throws {
    try await connected { anna, ben in
      let (session, data, peer) = (anna.session, Data([1]), anna.id(of: ben))
      #expect(throwsCode(.invalidParameterError) { try session.sendData(toAllPeers: nil, with: .reliable) })
      #expect(throwsCode(.invalidParameterError) { try session.send(data, toPeers: nil, with: .reliable) })
      #expect(throwsCode(.invalidParameterError) { try session.send(data, toPeers: [], with: .reliable) })
      #expect(throwsCode(.invalidParameterError) { try session.send(data, toPeers: [peer, 7], with: .reliable) })
      #expect(throwsCode(.peerNotFoundError) { try session.send(data, toPeers: [peer, "7"], with: .reliable) })
      try GKSession().sendData(toAllPeers: data, with: .reliable)
      try session.sendData(toAllPeers: Data("end".utf8), with: .reliable)
      await ben.wait(for: "data Anna end")
      #expect(ben.received.count == 1)
    }
  }

  @Test("10,000 messages from several threads arrive, those of each thread in order")
  func order() async throws {
    try await connected { anna, ben in
      let (threads, count) = (4, 2_500)
      let session = anna.session
      await withTaskGroup(of: Void.self) { group in
        for thread in 0..<threads {
          group.addTask {
            for number in 0..<count {
              try? session.sendData(toAllPeers: Data("\(thread) \(number)".utf8), with: .reliable)
            }
          }
        }
      }
      try session.sendData(toAllPeers: Data("end".utf8), with: .reliable)
      await ben.wait { $0.last == "data Anna end" }
      let said = ben.received.dropLast().map { String(decoding: $0, as: UTF8.self) }
      #expect(said.count == threads * count)
      for thread in 0..<threads {
        let own = said.filter { $0.hasPrefix("\(thread) ") }
        #expect(own == (0..<count).map { "\(thread) \($0)" })
      }
    }
  }

  @Test("a peer that reads nothing makes send throw above 64 MiB, which never waits, and what was queued arrives")
  func nobodyReads() async throws {
    let id = Side.freshID()
    let anna = Side("Anna", in: id)
    anna.session.isAvailable = true
    var configuration = NodeConfiguration(sessionID: id, name: "Node")
    configuration.interfaces = ["lo"]
    // A program that uses Piconet itself: it is in the same session.
    try await Node.run(configuration) { node in
      try await node.setAvailable(true)
      let member = try await node.invite(try await node.firstPeer(named: "Anna"))
      await anna.wait(for: "connected Node")
      let session = anna.session
      let piece = Data(repeating: 1, count: 64 * 1024)
      var sent = 0
      // The first that is refused: while what is queued goes on its way, the next may have room again.
      while sent < 2_000, !throwsCode(.transportError, { try session.sendData(toAllPeers: piece, with: .reliable) }) {
        sent += 1
      }
      // What waits, and what is on its way within the windows of both sides.
      #expect((968..<1_168).contains(sent), "\(sent)")
      do {
        for _ in 0..<64 { try session.sendData(toAllPeers: piece, with: .reliable) }
        Issue.record("there was room for 4 MiB more")
      } catch let error as GKSessionError {
        #expect(error.localizedDescription.contains("64 MiB wait for 'Node'"), "\(error.localizedDescription)")
        #expect(error.localizedDescription.contains("once the peer has received"))
      }
      // Such a message never waits: it goes, or it is dropped.
      try session.sendData(toAllPeers: Data([9]), with: .unreliable)
      #expect(anna.told.contains("connected Node"))
      try await member.send("still here".utf8)
      await anna.wait(for: "data Node still here")
      var read = 0
      for await message in node.session.messages where message.bytes.count == piece.count {
        read += 1
        if read == sent { break }
      }
      #expect(read == sent)
    }
  }

  @Test("a picture of 48 MiB goes in slices, in a loop that waits for nothing")
  func slices() async throws {
    try await connected { anna, ben in
      let slices = (48 << 20) / 90_000
      for number in 0..<slices {
        try anna.session.send(
          Data(repeating: UInt8(truncatingIfNeeded: number), count: 90_000), toPeers: [anna.id(of: ben)],
          with: .reliable)
      }
      try anna.session.sendData(toAllPeers: Data("done".utf8), with: .reliable)
      await ben.wait(for: "data Anna done")
      #expect(ben.received.count == slices + 1)
      #expect(ben.received.enumerated().dropLast().allSatisfy { $1.first == UInt8(truncatingIfNeeded: $0) })
    }
  }

  @Test("no message comes before its sender is connected, or after it is disconnected, however busy the main queue is")
  func bounds() async throws {
    let rounds = 20
    let id = Side.freshID()
    let (anna, ben) = (Side("Anna", in: id, connects: true), Side("Ben", in: id, connects: true))
    for side in [anna, ben] { side.session.isAvailable = true }
    for round in 1...rounds {
      await anna.wait(for: "connected Ben", times: round)
      let gate = Gate()
      DispatchQueue.main.async { gate.waitBlocking() }
      for number in 0..<50 { try? anna.session.sendData(toAllPeers: Data("\(number)".utf8), with: .reliable) }
      anna.session.disconnectFromAllPeers()
      gate.open()
      await anna.wait(for: "disconnected Ben", times: round)
      await ben.wait(for: "disconnected Anna", times: round)
    }
    var isConnected = false
    var count = 0
    for words in ben.told {
      if words == "connected Anna" { isConnected = true }
      if words == "disconnected Anna" { isConnected = false }
      if words.hasPrefix("data") {
        #expect(isConnected)
        count += 1
      }
    }
    #expect(count == rounds * 50)
  }

  private final class First: GKSessionDataReceiveHandler {
    let got = AsyncStream<UInt>.makeStream()
    func receive(_ data: Data, fromPeer peer: String, in session: GKSession, context: UnsafeMutableRawPointer?) {
      got.continuation.yield(UInt(bitPattern: context))
    }
  }

  private final class Second: GKSessionDataReceiveHandler {
    let got = AsyncStream<Data>.makeStream()
    func receiveData(_ data: Data, fromPeer peer: String, in session: GKSession, context: UnsafeMutableRawPointer?) {
      got.continuation.yield(data)
    }
  }

  private func next<Value>(_ stream: AsyncStream<Value>) async -> Value? {
    for await value in stream { return value }
    return nil
  }

  @Test("a handler is called in each way in which the method is written, with its context, and a closure too")
  func shapes() async throws {
    try await connected { anna, ben in
      let (first, second, third) = (First(), Second(), AsyncStream<String>.makeStream())
      let context = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
      defer { context.deallocate() }
      ben.session.setDataReceiveHandler(first, withContext: context)
      try anna.session.sendData(toAllPeers: Data("1".utf8), with: .reliable)
      #expect(await next(first.got.stream) == UInt(bitPattern: context))
      ben.session.setDataReceiveHandler(second, withContext: nil)
      try anna.session.sendData(toAllPeers: Data("2".utf8), with: .reliable)
      #expect(await next(second.got.stream) == Data("2".utf8))
      ben.session.setDataReceiveHandler { data, peer, session in
        third.continuation.yield("\(session.displayName(forPeer: peer) ?? "") \(String(decoding: data, as: UTF8.self))")
      }
      try anna.session.sendData(toAllPeers: Data("3".utf8), with: .reliable)
      #expect(await next(third.stream) == "Anna 3")
      let fourth = AsyncStream<UInt>.makeStream()
      ben.session.setDataReceiveHandler(
        { _, _, _, context in fourth.continuation.yield(UInt(bitPattern: context)) }, withContext: context)
      try anna.session.sendData(toAllPeers: Data("4".utf8), with: .reliable)
      #expect(await next(fourth.stream) == UInt(bitPattern: context))
      let receive: @MainActor (Data, String, GKSession) -> Void = { data, _, _ in
        third.continuation.yield(String(decoding: data, as: UTF8.self))
      }
      ben.session.setDataReceiveHandler(receive, withContext: nil)
      try anna.session.sendData(toAllPeers: Data("5".utf8), with: .reliable)
      #expect(await next(third.stream) == "5")
      // Of those from before Swift 6.
      let old: (Data, String, GKSession, UnsafeMutableRawPointer?) -> Void = { data, _, _, _ in
        third.continuation.yield(String(decoding: data, as: UTF8.self))
      }
      ben.session.setDataReceiveHandler(old, withContext: nil)
      try anna.session.sendData(toAllPeers: Data("6".utf8), with: .reliable)
      #expect(await next(third.stream) == "6")
      // Only this test keeps the handlers alive.
      withExtendedLifetime((first, second)) {}
    }
  }
}
