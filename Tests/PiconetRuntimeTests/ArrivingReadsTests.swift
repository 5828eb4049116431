import Testing

@testable import PiconetRuntime

@Suite("Reads of a source whose bytes still arrive")
struct ArrivingReadsTests {
  private func read(_ offset: UInt64) -> ArrivingReads.Read {
    ArrivingReads.Read(number: 1, offset: offset, payloadCount: 10, frameCount: 1)
  }

  @Test("go in the order in which they were asked for, whichever is told of first")
  func order() {
    var reads = ArrivingReads()
    let tickets = [0, 10, 20].map { reads.ask(for: read($0)) }
    #expect(reads.arrived(tickets[1]) == [read(0), read(10)])
    #expect(reads.arrived(tickets[0]).isEmpty)
    #expect(reads.arrived(tickets[2]) == [read(20)])
  }

  @Test("a read that was asked for before a transfer began again waits until its own bytes are there")
  func begunAgain() {
    var reads = ArrivingReads()
    let late = reads.ask(for: read(50))
    let again = reads.ask(for: read(0))
    #expect(reads.arrived(again) == [read(0)])
    #expect(reads.arrived(late) == [read(50)])
  }
}
