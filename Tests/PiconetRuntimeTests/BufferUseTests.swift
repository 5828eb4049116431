import Testing

@testable import PiconetRuntime

@Suite("When a link keeps its channel's buffers")
struct BufferUseTests {
  private func reads(_ count: Int, _ use: inout BufferUse) -> Int { (0..<count).count { _ in use.read() } }

  @Test("it is said once, with the sixteenth read between two looks")
  func busy() {
    var use = BufferUse()
    #expect(reads(BufferUse.busyReads - 1, &use) == 0)
    #expect(!use.isKept)
    #expect(use.read() == true)
    #expect(reads(100, &use) == 0)
    #expect(use.isKept)
  }

  @Test("heartbeats alone keep nothing, however many looks there are")
  func heartbeats() {
    var use = BufferUse()
    for _ in 0..<50 {
      #expect(reads(BufferUse.busyReads - 1, &use) == 0)
      #expect(use.timePassed() == false)
    }
  }

  @Test("a look after few reads gives the buffers back, once; much traffic then keeps them again")
  func rests() {
    var use = BufferUse()
    #expect(reads(BufferUse.busyReads, &use) == 1)
    #expect(use.timePassed() == false)
    #expect(reads(BufferUse.busyReads - 1, &use) == 0)
    #expect(use.timePassed() == true)
    #expect(use.timePassed() == false)
    #expect(reads(BufferUse.busyReads, &use) == 1)
  }
}
