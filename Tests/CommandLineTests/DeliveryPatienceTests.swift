import Testing

@testable import PiconetCommandLine

@Suite("How long imagesend waits for a delivery")
struct DeliveryPatienceTests {
  private let start = ContinuousClock.now

  @Test("a receiver that takes all bytes and never says that they are stored is given up like one that takes none")
  func neverStored() {
    var patience = DeliveryPatience(limit: .seconds(3), at: start)
    patience.moved(at: start + .seconds(2))
    patience.beganFinishing()
    #expect(patience.failure(at: start + .milliseconds(4999)) == nil)
    #expect(patience.end == start + .seconds(5))
    let failure = patience.failure(at: start + .seconds(5))
    #expect(failure?.word == "timed-out" && failure?.exitCode == .linkLost && failure?.endsConnection == true)
    #expect(failure?.message == "it has all the bytes, and did not say for 3 s that they are stored")
  }

  @Test("progress puts the timeout off, and the failure blames storing only while a file waits to be stored")
  func moves() {
    var patience = DeliveryPatience(limit: .seconds(3), at: start)
    patience.beganFinishing()
    patience.finished()
    for second in 1...10 {
      #expect(patience.failure(at: start + .seconds(second)) == nil)
      patience.moved(at: start + .seconds(second))
    }
    #expect(patience.failure(at: start + .seconds(13))?.message == "nothing moved for too long")
  }

  @Test("a receiver that says that its disk is at work is waited for, up to five minutes in which nothing moves")
  func storing() {
    var patience = DeliveryPatience(limit: .seconds(3), at: start)
    var isTold = 0
    func signs(from begin: Int, to end: Int) {
      for half in (2 * begin)...(2 * end) {
        let now = start + .milliseconds(500 * half)
        #expect(patience.failure(at: now) == nil, "after \(half / 2) s")
        if patience.stores(at: now) { isTold += 1 }
      }
    }
    signs(from: 1, to: 290)
    patience.moved(at: start + .seconds(290))
    signs(from: 291, to: 590)
    #expect(isTold == 1)
    #expect(patience.end == start + .seconds(593))
    _ = patience.stores(at: start + .seconds(592))
    #expect(
      patience.failure(at: start + .seconds(593))?.message == "its disk was at work for 300 s, and nothing came of it")
  }

  @Test("a process that did not run for a while gives the receiver its time anew", arguments: [30, 300, 5 * 86_400])
  func gap(length: Int) {
    var patience = DeliveryPatience(limit: .seconds(3), at: start)
    patience.beganFinishing()
    #expect(patience.failure(at: start + .seconds(length)) == nil)
    #expect(patience.end == start + .seconds(length + 3))
    #expect(patience.failure(at: start + .seconds(length + 3)) != nil)
  }
}
