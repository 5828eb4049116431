import PiconetEngine
import Testing

@testable import PiconetRuntime

@Suite("When the radio is in use")
struct RadioUseTests {
  private let start = Instant(nanoseconds: 1_000_000_000)

  @Test("unused it is free, and no deadline waits")
  func unused() {
    let use = RadioUse()
    #expect(!use.isBusy(at: start))
    #expect(use.nextDeadline(at: start) == nil)
  }

  @Test("a dial keeps it busy however long it takes, and for the hold after its end")
  func dial() {
    var use = RadioUse()
    use.began()
    #expect(use.isBusy(at: start + .seconds(100)))
    #expect(use.nextDeadline(at: start) == nil, "nobody knows when it ends")
    let end = start + .seconds(5)
    use.ended(at: end)
    #expect(use.nextDeadline(at: end) == end + RadioUse.hold)
    #expect(use.isBusy(at: end + (RadioUse.hold - .nanoseconds(1))))
    #expect(!use.isBusy(at: end + RadioUse.hold))
    #expect(use.nextDeadline(at: end + RadioUse.hold) == nil)
  }

  @Test("of two uses at once the last one frees it")
  func two() {
    var use = RadioUse()
    use.began()
    use.began()
    use.ended(at: start)
    #expect(use.isBusy(at: start + .seconds(60)))
    use.ended(at: start + .seconds(60))
    #expect(!use.isBusy(at: start + .seconds(62)))
  }

  @Test("an accepted link's handshake that stalls keeps it busy for 2 s, and its end changes nothing then")
  func stalled() {
    var use = RadioUse()
    use.acceptedBegan(at: start)
    let end = start + RadioUse.accepted
    #expect(use.nextDeadline(at: start) == end)
    #expect(use.isOpen(at: Instant(nanoseconds: end.nanoseconds - 1)))
    #expect(!use.isOpen(at: end) && !use.isBusy(at: end))
    use.acceptedEnded(at: end)
    #expect(!use.isBusy(at: end) && use.lastOpenUse == nil)
  }

  @Test("an accepted link's handshake that ends in time keeps it busy for the hold")
  func accepted() {
    var use = RadioUse()
    use.acceptedBegan(at: start)
    let end = start + .milliseconds(300)
    use.acceptedEnded(at: end)
    #expect(!use.isOpen(at: end) && use.isBusy(at: end))
    #expect(use.nextDeadline(at: end) == end + RadioUse.hold)
  }

  @Test("links opened again and again, none of which speaks, keep it busy for 4 s of 10 s at most")
  func reopened() {
    for step in [100, 300, 700, 1999, 2000, 3000] {
      var use = RadioUse()
      var busy = 0
      for millisecond in 0..<60_000 {
        let now = start + .milliseconds(millisecond)
        if millisecond % step == 0 {
          if use.acceptedUses > 0 { use.acceptedEnded(at: now) }
          use.acceptedBegan(at: now)
        }
        if use.isBusy(at: now) { busy += 1 }
      }
      #expect(busy <= 6 * 4000, "opened every \(step) ms: \(busy) ms of 60 s")
    }
  }

  @Test("a link that waits for room keeps it busy as long as something moves there, and for the hold")
  func stalledLink() {
    var use = RadioUse()
    var now = start
    for _ in 0..<20 {
      use.waited(at: now)
      now = now + .milliseconds(1999)
      #expect(use.isBusy(at: now))
    }
    #expect(use.nextDeadline(at: now) == now + .milliseconds(1))
    #expect(!use.isBusy(at: now + .milliseconds(1)))
  }

  @Test("our own dial beside an accepted link's handshake counts until it ends")
  func dialBesideAccepted() {
    var use = RadioUse()
    use.acceptedBegan(at: start)
    use.began()
    #expect(use.isOpen(at: start + .seconds(60)))
    #expect(use.nextDeadline(at: start) == nil)
  }

  @Test("bulk makes it busy, in one piece or in many within the span")
  func bulk() {
    var use = RadioUse()
    use.moved(RadioUse.bulk, at: start)
    #expect(use.isBusy(at: start))
    var other = RadioUse()
    for part in 0..<8 { other.moved(RadioUse.bulk / 8, at: start + .milliseconds(50 * part)) }
    #expect(other.isBusy(at: start + .milliseconds(350)))
    #expect(other.nextDeadline(at: start + .seconds(1)) == start + .milliseconds(350) + RadioUse.hold)
  }

  @Test("short messages and heartbeats leave it free, however many come in an hour")
  func trickle() {
    var use = RadioUse()
    var now = start
    for _ in 0..<36_000 {
      use.moved(200, at: now)
      #expect(!use.isBusy(at: now))
      now = now + .milliseconds(100)
    }
  }

  @Test("a transfer with pauses below the hold is one use")
  func pauses() {
    var use = RadioUse()
    var now = start
    for _ in 0..<10 {
      use.moved(RadioUse.bulk, at: now)
      now = now + (RadioUse.hold - .milliseconds(1))
      #expect(use.isBusy(at: now))
    }
    #expect(!use.isBusy(at: now + .milliseconds(1)))
  }

  @Test("only links over Bluetooth use the radio")
  func kinds() {
    #expect(TransportKind.allCases.filter(\.usesBluetooth) == [.l2cap, .rfcomm, .le])
  }
}
