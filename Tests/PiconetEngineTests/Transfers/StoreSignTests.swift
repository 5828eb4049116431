import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("What a receiver says while its disk is at work")
struct StoreSignTests {
  private let theirs = TransferID(rawValue: TransferID.firstIncoming)
  private static let size: UInt64 = 1_000

  /// The remote side has offered transfer 0, which is accepted; the disk answers nothing by itself.
  private func receiving() -> OneSided {
    let one = OneSided().connected()
    one.side.answersDisk = false
    one.receive(.offer(transfer: 0, ResourceOffer(name: [1], size: Self.size)))
    one.side.command(.acceptOffer(theirs, offset: 0))
    return one
  }

  /// What the sender hears meanwhile of transfers, and how long each takes, in milliseconds.
  private func told(_ one: OneSided, for duration: Duration) -> [Int] {
    let start = one.side.now
    var times: [Int] = []
    let end = start + duration
    while let next = one.side.nextDeadline, next <= end {
      let outcome = one.side.wait(next - one.side.now)
      let isTold = outcome.frames.contains { if case .comparing(0, _) = $0 { true } else { false } }
      if isTold { times.append(Int((one.side.now - start) / .milliseconds(1))) }
      // The link lives.
      one.receive(.ping(1))
    }
    return times
  }

  @Test("while a write or the commit takes long, and only then, the sender hears of it at least once a second")
  func signs() {
    let one = receiving()
    #expect(told(one, for: .seconds(5)) == [])
    one.receive(.chunk(transfer: 0, bytes(500)))
    #expect(told(one, for: .seconds(2)) == [500, 1_000, 1_500, 2_000])
    one.side.take(.chunkStored(theirs, upTo: 500))
    #expect(told(one, for: .seconds(3)) == [])
    one.receive(.chunk(transfer: 0, bytes(500)))
    one.side.take(.chunkStored(theirs, upTo: 1_000))
    one.receive(.end(transfer: 0, size: Self.size, someDigest))
    let commit = told(one, for: .seconds(3))
    #expect(commit.count >= 5 && commit[0] <= 1_000, "\(commit)")
    #expect(zip(commit, commit.dropFirst()).allSatisfy { $1 - $0 <= 1_000 }, "\(commit)")
    #expect(one.side.take(.committed(theirs, name: [7])).frames == [.stored(transfer: 0, name: [7])])
    #expect(told(one, for: .seconds(3)) == [])
  }

  @Test("a disk that answers in time sends nothing of the kind")
  func quick() {
    let one = receiving()
    for count in 1...10 {
      one.receive(.chunk(transfer: 0, bytes(100)))
      #expect(told(one, for: .milliseconds(400)) == [])
      one.side.take(.chunkStored(theirs, upTo: UInt64(100 * count)))
    }
  }
}
