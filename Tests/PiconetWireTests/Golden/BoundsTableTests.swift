import PiconetWire
import Testing

@Suite("What bounds each frame, in Documentation/wire-format.md")
struct BoundsTableTests {
  /// The names in the table's rows, in order.
  private var rows: [String] {
    let lines = WireDocument.text.split(separator: "\n", omittingEmptySubsequences: false)
    guard let start = lines.firstIndex(of: "### What bounds each frame") else { return [] }
    let table = lines[start...].drop { !$0.hasPrefix("|---") }.dropFirst().prefix { $0.hasPrefix("| ") }
    return table.compactMap { line in
      let cells = line.split(separator: "|").map { $0.split(separator: " ").joined(separator: " ") }
      return cells.count == 3 && cells.allSatisfy { !$0.isEmpty } ? cells[0] : nil
    }
  }

  @Test("the table has a row for every type of frame, in the order of the types, and one for those that are unknown")
  func everyType() {
    #expect(rows == FrameType.all.map(\.name) + ["unknown optional ones"])
    #expect(FrameType.all.map(\.type) == FrameType.all.map(\.type).sorted())
  }

  @Test("every type that a decoder knows has its name, and no other one has")
  func everyKnownType() {
    let named = Set(FrameType.all.map(\.type))
    for type in UInt8.min...UInt8.max {
      var decoder = FrameDecoder(frameLimit: WireLimits.largestFrame)
      decoder.push([type, 0])
      let isKnown: Bool
      do throws(WireError) {
        if case .unknownOptional? = try decoder.next() { isKnown = false } else { isKnown = true }
      } catch {
        if case .unknownRequiredFrame = error { isKnown = false } else { isKnown = true }
      }
      #expect(isKnown == named.contains(type), "0x\(String(type, radix: 16))")
    }
  }
}
