import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Transfers take turns")
struct ChunkTurnsTests {
  private func id(_ number: UInt64) -> TransferID { TransferID(rawValue: number) }

  @Test("alone, a transfer has all the room; with others, one turn of it")
  func share() {
    var turns = ChunkTurns()
    turns.append(id(1))
    #expect(turns.share(of: 1 << 20) == 1 << 20)
    turns.append(id(2))
    turns.append(id(2))
    #expect(turns.count == 2)
    #expect(turns.share(of: 1 << 20) == ChunkTurns.quantum)
    #expect(turns.share(of: 10) == 10)
  }

  @Test("a turn lasts over several rooms, and goes round")
  func round() {
    var turns = ChunkTurns()
    for number: UInt64 in 1...3 { turns.append(id(number)) }
    turns.took(ChunkTurns.quantum - 1)
    #expect(turns.current == id(1))
    #expect(turns.share(of: 10) == 1)
    turns.took(20_000)
    #expect(turns.current == id(2))
    turns.pass()
    #expect(turns.current == id(3))
    turns.pass()
    #expect(turns.current == id(1))
  }

  @Test("a transfer that goes leaves the turn where it was, or to the next")
  func removal() {
    var turns = ChunkTurns()
    for number: UInt64 in 1...4 { turns.append(id(number)) }
    turns.pass()
    turns.remove(id(1))
    #expect(turns.current == id(2))
    turns.remove(id(2))
    #expect(turns.current == id(3))
    turns.pass()
    turns.remove(id(4))
    #expect(turns.current == id(3))
    turns.remove(id(3))
    #expect(turns.current == nil)
    turns.remove(id(3))
  }

  /// How many bytes of each of several transfers had gone after every window. Each has 4 MiB, and the remote side takes
  /// what comes.
  private func progress(of transfers: UInt64, paused: TransferID? = nil) -> [[UInt64: Int]] {
    let size: UInt64 = 4 << 20
    let one = OneSided().connected()
    one.side.takesAll = false
    for number in 1...transfers {
      one.side.command(.offer(id(number), to: one.far, ResourceOffer(name: [1], size: size)), id: number)
      one.receive(.acceptOffer(transfer: number - 1, offset: 0, limit: size))
    }
    if let paused { one.side.command(.pauseTransfer(paused, true)) }
    var sums: [UInt64: Int] = [:]
    var steps: [[UInt64: Int]] = []
    var seen = 0
    while true {
      let effects = one.side.log.effects[seen...]
      seen = one.side.log.effects.count
      var count = 0
      for case .transmit(_, let bytes) in effects {
        count += bytes.count
        var decoder = FrameDecoder(frameLimit: WireLimits.largestFrame)
        decoder.push(bytes)
        while case .some(.some(let frame)) = try? decoder.next() {
          if case .chunk(let transfer, let payload) = frame { sums[transfer, default: 0] += payload.count }
        }
      }
      if count == 0 { return steps }
      steps.append(sums)
      one.side.take(.transmitted(one.link, byteCount: count))
    }
  }

  @Test(
    "two, five and sixteen transfers go on side by side: none is ahead by more than two turns", arguments: [2, 5, 16])
  func fairness(transfers: UInt64) {
    let steps = progress(of: transfers)
    #expect(steps.last?.values.reduce(0, +) == Int(transfers) * 4 << 20)
    // The first transfer was alone before the others were accepted.
    let start = steps[0]
    for step in steps where !step.values.contains(4 << 20) {
      let sums = (0..<transfers).map { (step[$0] ?? 0) - (start[$0] ?? 0) }
      let (most, least) = (sums.max() ?? 0, sums.min() ?? 0)
      // A transfer whose block the disk has not read yet gives its turn away.
      #expect(most - least <= 2 * ChunkTurns.quantum + 16_384, "\(sums)")
    }
  }

  @Test("a paused transfer gives its turns away, and holds up no other")
  func resting() {
    let steps = progress(of: 3, paused: id(2))
    #expect(steps.last?[0] == 4 << 20)
    #expect(steps.last?[1] == nil || (steps.last?[1] ?? 0) < 1 << 20)
    #expect(steps.last?[2] == 4 << 20)
  }
}
