import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Numbers of transfers")
struct TransferNumbersTests {
  @Test("the first numbers are the smallest, and one that came back is taken again")
  func smallest() {
    var numbers = TransferNumbers()
    #expect([numbers.take(), numbers.take(), numbers.take()] == [0, 1, 2])
    numbers.giveBack(1)
    #expect(numbers.take() == 1)
    #expect(numbers.take() == 3)
  }

  @Test("the smallest free number is taken, in whatever order they came back")
  func smallestOfSeveral() {
    var numbers = TransferNumbers()
    for _ in 0..<5 { _ = numbers.take() }
    for number: UInt64 in [1, 4, 0, 3] { numbers.giveBack(number) }
    #expect([numbers.take(), numbers.take(), numbers.take(), numbers.take(), numbers.take()] == [0, 1, 3, 4, 5])
  }

  @Test("there are as many as the wire has, no two alike")
  func limit() {
    var numbers = TransferNumbers()
    var taken: Set<UInt64> = []
    while let number = numbers.take() {
      guard taken.insert(number).inserted, number < WireLimits.transferNumbers else {
        Issue.record("\(number) again, or too large")
        return
      }
    }
    #expect(taken.count == Int(WireLimits.transferNumbers))
    numbers.giveBack(77)
    #expect(numbers.take() == 77)
    #expect(numbers.take() == nil)
  }
}

@Suite("Reading ahead in our own transfers")
struct NextReadTests {
  private func waiting(size: UInt64) -> TransferSender {
    TransferSender(
      id: TransferID(rawValue: 1), caller: Caller(CommandID(rawValue: 1)), offer: ResourceOffer(name: [], size: size))
  }

  /// One that the other side has accepted.
  private func transfer(size: UInt64, limit: UInt64) throws -> TransferSender {
    let transfer = waiting(size: size)
    transfer.offered(as: 0)
    #expect(try transfer.accepted(at: 0, limit: limit))
    return transfer
  }

  private func next(_ transfer: TransferSender) -> [UInt64]? {
    transfer.nextRead(of: 100, ChunkLayout(transfer: 0, frameLimit: 1_021)).map { [$0.offset, UInt64($0.count)] }
  }

  /// The source answers the oldest read, and the link takes the bytes.
  private func readAndTake(_ transfer: TransferSender) {
    #expect(transfer.read([1], payloadCount: 1) == .queued)
    #expect(transfer.takeFrames(1_000)?.frames == [1])
  }

  @Test("two reads may be under way, and they follow one another without a gap")
  func twoReads() throws {
    let transfer = try transfer(size: 1_000, limit: 1_000)
    #expect(next(transfer) == [0, 100])
    #expect(next(transfer) == [100, 100])
    #expect(next(transfer) == nil)
    readAndTake(transfer)
    #expect(next(transfer) == [200, 100])
  }

  @Test("bytes that were read and not transmitted count like a read under way")
  func blocksCount() throws {
    let transfer = try transfer(size: 1_000, limit: 1_000)
    #expect(next(transfer) == [0, 100])
    #expect(transfer.read([1], payloadCount: 1) == .queued)
    #expect(next(transfer) == [100, 100])
    #expect(next(transfer) == nil)
  }

  @Test("no read goes beyond the credit, nor beyond the size")
  func limits() throws {
    let byCredit = try transfer(size: 1_000, limit: 130)
    #expect(next(byCredit) == [0, 100])
    #expect(next(byCredit) == [100, 30])
    readAndTake(byCredit)
    readAndTake(byCredit)
    #expect(next(byCredit) == nil)
    #expect(try byCredit.credited(stored: 0, limit: 131) != nil)
    #expect(next(byCredit) == [130, 1])
    let bySize = try transfer(size: 50, limit: .max)
    #expect(next(bySize) == [0, 50])
    #expect(next(bySize) == nil)
  }

  @Test("nothing is read before the offer is accepted, nor after the end, nor once it is given up")
  func phases() throws {
    let waiting = waiting(size: 10)
    let offered = self.waiting(size: 10)
    offered.offered(as: 0)
    let ended = try transfer(size: 0, limit: 0)
    #expect(ended.beginFinishing() && ended.finished(someDigest) && ended.takeEnd() != nil)
    let abandoned = try transfer(size: 10, limit: 10)
    abandoned.abandon()
    for (transfer, phase) in [
      (waiting, TransferSender.Phase.waiting), (offered, .offered), (ended, .ended), (abandoned, .abandoned),
    ] {
      #expect(transfer.phase == phase)
      #expect(next(transfer) == nil)
      #expect(!transfer.beginFinishing())
    }
  }

  @Test("a transfer is ready to finish once all its bytes were read, an empty one at once, and no transfer twice")
  func readyToFinish() throws {
    #expect(try transfer(size: 0, limit: 0).beginFinishing())
    let transfer = try transfer(size: 100, limit: 100)
    #expect(!transfer.beginFinishing())
    _ = next(transfer)
    #expect(!transfer.beginFinishing())
    #expect(transfer.read([1], payloadCount: 100) == .queued)
    #expect(transfer.beginFinishing())
    #expect(!transfer.beginFinishing())
  }

  @Test("reads whose link is gone are answered in vain, and what they lacked is read again")
  func staleReads() throws {
    let transfer = try transfer(size: 1_000, limit: 1_000)
    #expect(next(transfer) == [0, 100])
    #expect(next(transfer) == [100, 100])
    transfer.lostLink()
    #expect(transfer.read([1], payloadCount: 100) == .stale)
    #expect(next(transfer) == nil)
    #expect(try transfer.credited(stored: 0, limit: 1_000)?.goesOn == true)
    #expect(next(transfer) == [0, 100])
    #expect(next(transfer) == nil)
    #expect(transfer.read([1], payloadCount: 100) == .stale)
    #expect(transfer.read([1], payloadCount: 100) == .queued)
  }
}

@Suite("Credit of an incoming transfer")
struct TransferGrantTests {
  /// One that was accepted with this window.
  private func transfer(size: UInt64, limit: UInt64) -> TransferReceiver {
    let transfer = TransferReceiver(
      id: TransferID(rawValue: 1), number: 0, offer: ResourceOffer(name: [], size: size))
    #expect(transfer.accept(from: 0, window: limit) == .acceptOffer(transfer: 0, offset: 0, limit: limit))
    return transfer
  }

  @Test("credit is told once a quarter of the window is stored")
  func quarter() {
    let transfer = transfer(size: 10_000, limit: 400)
    #expect(transfer.chunkStored(upTo: 99))
    #expect(transfer.grant(window: 400) == nil)
    #expect(transfer.chunkStored(upTo: 100))
    #expect(transfer.grant(window: 400) == 500)
    #expect(transfer.limit == 500)
    #expect(transfer.grant(window: 400) == nil)
  }

  @Test("the last credit is told however small, and never goes beyond the size")
  func lastCredit() {
    let transfer = transfer(size: 410, limit: 400)
    #expect(transfer.chunkStored(upTo: 10))
    #expect(transfer.grant(window: 400) == 410)
    #expect(transfer.chunkStored(upTo: 410))
    #expect(transfer.grant(window: 400) == nil)
  }

  @Test("a window that shrinks takes nothing back, and goes on where the bytes have caught up")
  func shrinking() {
    let transfer = transfer(size: 10_000, limit: 400)
    #expect(transfer.chunkStored(upTo: 300))
    #expect(transfer.grant(window: 100) == nil)
    #expect(transfer.limit == 400)
    #expect(transfer.chunkStored(upTo: 330))
    #expect(transfer.grant(window: 100) == 430)
  }

  @Test("whatever the window becomes, a sender that has used its credit gets more", arguments: 0..<20 as Range<UInt64>)
  func noDeadlock(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let transfer = transfer(size: 100_000, limit: 1_000)
    for _ in 0..<100_000 where transfer.stored < 100_000 {
      let window = UInt64.random(in: 1...4_000, using: &random)
      let before = transfer.limit
      if let limit = transfer.grant(window: window) {
        #expect(limit == transfer.limit && limit > before && limit <= 100_000)
      }
      guard transfer.stored < transfer.limit else {
        Issue.record("stuck at \(transfer.stored)")
        return
      }
      let upTo = UInt64.random(in: (transfer.stored + 1)...transfer.limit, using: &random)
      #expect(transfer.chunkStored(upTo: upTo))
    }
    #expect(transfer.stored == 100_000)
  }
}
