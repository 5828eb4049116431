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

  @Test("a process that did not run for a while gives the receiver its time anew", arguments: [30, 300, 5 * 86_400])
  func gap(length: Int) {
    var patience = DeliveryPatience(limit: .seconds(3), at: start)
    patience.beganFinishing()
    #expect(patience.failure(at: start + .seconds(length)) == nil)
    #expect(patience.end == start + .seconds(length + 3))
    #expect(patience.failure(at: start + .seconds(length + 3)) != nil)
  }
}
