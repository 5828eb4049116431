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

@Suite("Reading ahead of a transfer of ours")
struct NextReadTests {
  private func transfer(size: UInt64, limit: UInt64) -> TransferSender {
    let transfer = TransferSender(
      id: TransferID(rawValue: 1), command: CommandID(rawValue: 1),
      offer: ResourceOffer(name: [], size: size))
    transfer.phase = .sending
    transfer.limit = limit
    return transfer
  }

  private func next(_ transfer: TransferSender) -> [UInt64]? {
    transfer.nextRead(of: 100).map { [$0.offset, UInt64($0.count)] }
  }

  @Test("two reads may be under way, and they follow one another without a gap")
  func twoReads() {
    let transfer = transfer(size: 1_000, limit: 1_000)
    #expect(next(transfer) == [0, 100])
    #expect(next(transfer) == [100, 100])
    #expect(next(transfer) == nil)
    transfer.readsUnderWay -= 1
    #expect(next(transfer) == [200, 100])
  }

  @Test("what was read and not transmitted counts like a read under way")
  func blocksCount() {
    let transfer = transfer(size: 1_000, limit: 1_000)
    transfer.blocks.append(
      TransferSender.Block(frames: [], payloadCount: 1, layout: ChunkLayout(transfer: 0, frameLimit: 1_021)))
    #expect(next(transfer) == [0, 100])
    #expect(next(transfer) == nil)
  }

  @Test("no read goes beyond the credit, nor beyond the size")
  func limits() {
    let byCredit = transfer(size: 1_000, limit: 130)
    #expect(next(byCredit) == [0, 100])
    #expect(next(byCredit) == [100, 30])
    byCredit.readsUnderWay = 0
    #expect(next(byCredit) == nil)
    byCredit.limit = 131
    #expect(next(byCredit) == [130, 1])
    let bySize = transfer(size: 50, limit: .max)
    #expect(next(bySize) == [0, 50])
    #expect(next(bySize) == nil)
  }

  @Test("nothing is read before the offer is accepted, nor after the end")
  func phases() {
    for phase: TransferSender.Phase in [.waiting, .offered, .ended, .abandoned] {
      let transfer = transfer(size: 10, limit: 10)
      transfer.phase = phase
      #expect(next(transfer) == nil)
      #expect(!transfer.isReadyToFinish)
    }
  }

  @Test("a transfer is ready to finish once all its bytes were read, an empty one at once")
  func readyToFinish() {
    #expect(transfer(size: 0, limit: 0).isReadyToFinish)
    let transfer = transfer(size: 100, limit: 100)
    #expect(!transfer.isReadyToFinish)
    _ = next(transfer)
    #expect(!transfer.isReadyToFinish)
    transfer.readsUnderWay = 0
    #expect(transfer.isReadyToFinish)
    transfer.isFinishing = true
    #expect(!transfer.isReadyToFinish)
  }
}

@Suite("Credit of an incoming transfer")
struct TransferGrantTests {
  private func transfer(size: UInt64, limit: UInt64) -> TransferReceiver {
    let transfer = TransferReceiver(
      id: TransferID(rawValue: 1), number: 0, offer: ResourceOffer(name: [], size: size))
    transfer.limit = limit
    return transfer
  }

  @Test("credit is told once a quarter of the window is stored")
  func quarter() {
    let transfer = transfer(size: 10_000, limit: 400)
    transfer.stored = 99
    #expect(transfer.grant(window: 400) == nil)
    transfer.stored = 100
    #expect(transfer.grant(window: 400) == 500)
    #expect(transfer.limit == 500)
    #expect(transfer.grant(window: 400) == nil)
  }

  @Test("the last credit is told however small, and never goes beyond the size")
  func lastCredit() {
    let transfer = transfer(size: 410, limit: 400)
    transfer.stored = 10
    #expect(transfer.grant(window: 400) == 410)
    transfer.stored = 410
    #expect(transfer.grant(window: 400) == nil)
  }

  @Test("a window that shrinks takes nothing back, and goes on where the bytes have caught up")
  func shrinking() {
    let transfer = transfer(size: 10_000, limit: 400)
    transfer.stored = 300
    #expect(transfer.grant(window: 100) == nil)
    #expect(transfer.limit == 400)
    transfer.stored = 330
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
      transfer.stored += UInt64.random(in: 1...(transfer.limit - transfer.stored), using: &random)
    }
    #expect(transfer.stored == 100_000)
  }
}
