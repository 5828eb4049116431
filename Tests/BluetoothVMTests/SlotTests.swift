import Foundation
import TestSupport
import Testing

/// How long data is on the emulated air, as seen by the hosts of both adapters, which are the tests themselves.
@Suite(
  "Data in slots between the virtual machine's controllers", .serialized,
  .machine("--adapters 9 --no-daemon"))
struct SlotTests {
  /// Core Specification 5.4, volume 2, part B, table 6.10: a packet of one slot holds 83 bytes, of three 552, of five
  /// 1,021.
  @Test(
    "each packet takes the slots of the smallest one that holds it, and one for the answer",
    arguments: [(0, 2), (83, 2), (84, 4), (552, 4), (553, 6), (1021, 6)])
  func slots(size: Int, slots: Int) throws {
    try PagingTests.hosts { first, second in
      let handle = try PagingTests.connect(first, second)[0]
      #expect(try FaultTests.run("fault slots 1").status == 0)
      defer { _ = try? FaultTests.run("fault slots 0") }
      let clock = ContinuousClock()
      let start = clock.now
      for _ in 0..<8 { try first.send(size, over: handle) }
      #expect(try second.data(8) == [Int](repeating: size, count: 8))
      let taken = clock.now - start
      // It may take longer, never less.
      let least = Duration.microseconds(8 * slots * 625)
      #expect(taken >= least)
      print("8 packets of \(size) bytes: \(taken), at least \(least)")
    }
  }

  @Test("the links of an adapter take turns: a packet to one host does not wait for all of those to another")
  func turns() throws {
    try PagingTests.hosts { first, second in
      let third = try RawHost(2)
      defer { #expect((try? third.end()) == true) }
      #expect(try third.command(0x0C1A, [2]) == 0)
      let toSecond = try PagingTests.connect(first, second)[0]
      let toThird = try PagingTests.connect(first, third)[0]
      // A tenth of a second for each, so that no delay of this process hides their order.
      #expect(try FaultTests.run("fault rate 10210").status == 0)
      defer { _ = try? FaultTests.run("fault rate 0") }
      for _ in 0..<7 { try first.send(1021, over: toSecond) }
      try first.send(27, over: toThird)
      #expect(try third.data(1) == [27])
      #expect(try second.dataCount() < 7)
      #expect(try second.data(7) == [Int](repeating: 1021, count: 7))
    }
  }
}
