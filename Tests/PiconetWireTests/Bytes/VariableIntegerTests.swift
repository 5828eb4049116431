import PiconetWire
import Testing

@Suite("Variable-length integers (RFC 9000, section 16)")
struct VariableIntegerTests {
  private func bytes(_ value: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    VariableInteger.append(value, to: &bytes)
    return bytes
  }

  @Test("the examples of RFC 9000, appendix A.1")
  func examples() {
    #expect(bytes(151_288_809_941_952_652).hexadecimal == "c2197c5eff14e88c")
    #expect(bytes(494_878_333).hexadecimal == "9d7f3e7d")
    #expect(bytes(15_293).hexadecimal == "7bbd")
    #expect(bytes(37).hexadecimal == "25")
  }

  @Test("both sides of every size are read as written, and no beginning of them is taken for a whole")
  func edges() {
    for edge: UInt64 in [0, 0x40, 0x4000, 0x4000_0000, VariableInteger.max] {
      for value in [edge &- 1, edge, edge + 1] where value <= VariableInteger.max {
        let written = bytes(value)
        #expect(written.count == VariableInteger.byteCount(of: value))
        #expect(VariableInteger.read(written[...], at: 0) == .value(value, byteCount: written.count))
        for count in 0..<written.count { #expect(VariableInteger.read(written[..<count], at: 0) == .incomplete) }
      }
    }
  }

  @Test("a longer form than the value needs is refused")
  func shortestForm() {
    for (digits, isShortest) in [
      ("403f", false), ("4040", true), ("80003fff", false), ("80004000", true), ("c00000003fffffff", false),
      ("c000000040000000", true), ("4000", false), ("80000000", false), ("c000000000000000", false),
    ] {
      let reading = VariableInteger.read([UInt8](hexadecimal: digits)![...], at: 0)
      #expect((reading == .notShortest) == !isShortest, "\(digits)")
    }
  }

  @Test("the sum of two values overflows neither Int nor UInt64")
  func sums() {
    #expect(!Int(VariableInteger.max).addingReportingOverflow(Int(VariableInteger.max)).overflow)
  }

  @Test("a value above the largest is cut to it")
  func tooLarge() {
    #expect(bytes(.max) == bytes(VariableInteger.max))
  }
}
