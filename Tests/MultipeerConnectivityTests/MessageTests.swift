import Foundation
import Synchronization
import Testing

@testable import MultipeerConnectivity

@Suite("Messages", .serialized, .timeLimit(.minutes(10)))
struct MessageTests {
  private func pair() async -> (Player, Player) {
    let type = Player.serviceType()
    let (anna, ben) = (Player("Anna", type), Player("Ben", type))
    ben.advertise()
    anna.browse()
    await anna.connects(to: ben)
    return (anna, ben)
  }

  @Test("keep their order, from several threads too, and come whole, the longest and the empty one among them")
  func order() async throws {
    let (anna, ben) = await pair()
    ben.isSilent = true
    let received = Mutex<[Int: [Int]]>([:])
    let sizes = Mutex<[Int]>([])
    ben.received = { player, data, _ in
      guard data.count == 8 else {
        sizes.withLock { $0.append(data.count) }
        return player.note("long")
      }
      let thread = Int(data[data.startIndex])
      let number = data.dropFirst().reduce(0) { $0 << 8 | Int($1) }
      received.withLock { $0[thread, default: []].append(number) }
      if number == 999 { player.note("last") }
    }
    let target = ben.peer
    let session = Sending(session: anna.session)
    await withTaskGroup(of: Void.self) { group in
      for thread in 0..<4 {
        group.addTask {
          for number in 0..<1_000 {
            let bytes = [UInt8(thread), 0, 0, 0, 0, 0, UInt8(number >> 8), UInt8(number & 255)]
            try? session.session.send(Data(bytes), toPeers: [target], with: .reliable)
          }
        }
      }
    }
    await ben.sees("last", 4)
    let all = received.withLock { $0 }
    #expect(all == Dictionary(uniqueKeysWithValues: (0..<4).map { ($0, Array(0..<1_000)) }))
    try anna.session.send(Data(count: MCSession.messageLimit), toPeers: [target], with: .reliable)
    try anna.session.send(Data(), toPeers: [target], with: .reliable)
    await ben.sees("long", 2)
    #expect(sizes.withLock { $0 } == [MCSession.messageLimit, 0])
    anna.leave()
    ben.leave()
  }

  /// Unchecked: any thread may use a session.
  private struct Sending: @unchecked Sendable {
    let session: MCSession
  }

  @Test("to a peer that takes nothing: sending throws at the stated amount, never waits, and works again afterwards")
  func pressure() async throws {
    let (anna, ben) = await pair()
    ben.isSilent = true
    let gate = DispatchSemaphore(value: 0)
    let count = Mutex(0)
    ben.received = { player, _, _ in
      let number = count.withLock { count in
        count += 1
        return count
      }
      if number == 1 { gate.wait() }
      player.note("one")
    }
    let message = Data(count: 1 << 20)
    var sent = 0
    var refusal: (any Error)?
    while refusal == nil, sent < 200 {
      do {
        try anna.session.send(message, toPeers: [ben.peer], with: .reliable)
        sent += 1
      } catch {
        refusal = error
      }
    }
    #expect((refusal as? MCError)?.code == .unavailable)
    #expect((30...110).contains(sent), "\(sent) MiB")
    // It is dropped, which is no error.
    try anna.session.send(Data([1]), toPeers: [ben.peer], with: .unreliable)
    gate.signal()
    await ben.sees("one", sent)
    try anna.session.send(Data([2]), toPeers: [ben.peer], with: .reliable)
    await ben.waits { $0.count { $0 == "one" } > sent }
    anna.leave()
    ben.leave()
  }

  @Test("can't go to an empty list of peers, to a peer that is not connected, or above the limit")
  func errors() async throws {
    let (anna, ben) = await pair()
    let stranger = MCPeerID(displayName: "Nobody")
    let session = anna.session
    #expect(code { try session.send(Data(), toPeers: [], with: .reliable) } == .invalidParameter)
    #expect(code { try session.send(Data(), toPeers: [stranger], with: .reliable) } == .notConnected)
    #expect(code { try session.send(Data(), toPeers: [ben.peer, stranger], with: .reliable) } == .notConnected)
    #expect(
      code { try session.send(Data(count: MCSession.messageLimit + 1), toPeers: [ben.peer], with: .reliable) }
        == .invalidParameter)
    #expect(code { _ = try session.startStream(withName: "a", toPeer: stranger) } == .notConnected)
    #expect(
      code { _ = try session.startStream(withName: String(repeating: "a", count: 2_000), toPeer: ben.peer) }
        == .invalidParameter)
    #expect(ben.transcript == ["invited by Anna", "Anna connecting", "Anna connected"])
    session.disconnect()
    #expect(code { try session.send(Data(), toPeers: [ben.peer], with: .reliable) } == .notConnected)
    anna.leave()
    ben.leave()
  }

  private func code(_ body: () throws -> Void) -> MCError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? MCError)?.code
    }
  }
}
