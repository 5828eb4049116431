import Testing

@testable import PiconetRuntime

@Suite("What a link has sealed and not yet written")
struct UnwrittenRecordsTests {
  @Test("plaintext counts as written once all of its ciphertext is, and once only")
  func countsWholeFlushes() {
    var records = UnwrittenRecords()
    records.sealed(1000, waiting: 1022)
    #expect(records.takeWritten() == 0)
    records.wrote(1021)
    #expect(records.takeWritten() == 0)
    records.wrote(1)
    #expect(records.takeWritten() == 1000)
    #expect(records.takeWritten() == 0)
  }

  @Test("of several flushes those that are written count, however the writes are cut")
  func countsSeveralFlushes() {
    var records = UnwrittenRecords()
    records.sealed(10, waiting: 32)
    records.sealed(20, waiting: 74)
    records.sealed(30, waiting: 126)
    records.wrote(33)
    #expect(records.takeWritten() == 10)
    records.wrote(41)
    #expect(records.takeWritten() == 20)
    // What waits has shrunk meanwhile.
    records.sealed(40, waiting: 114)
    records.wrote(114)
    #expect(records.takeWritten() == 70)
  }

  @Test("hundreds of flushes that are never all written are counted exactly")
  func countsWithoutBeingEmpty() {
    var records = UnwrittenRecords()
    records.sealed(1, waiting: 23)
    var counted = 0
    for _ in 0..<300 {
      records.sealed(1, waiting: 46)
      records.wrote(23)
      counted += records.takeWritten()
    }
    #expect(counted == 300)
    records.wrote(23)
    #expect(records.takeWritten() == 1)
  }
}
