import Testing

@testable import PiconetEngine

@Suite("The rules of discovery info")
struct DiscoveryInfoTests {
  private func rule(_ info: [String: String]) -> String? {
    do throws(InvalidConfiguration) {
      try DiscoveryInfo.validate(info)
      return nil
    } catch {
      return error.rule
    }
  }

  private func x(_ count: Int) -> String { String(repeating: "x", count: count) }

  @Test("a pair of 255 bytes, 400 bytes in all and 32 pairs are taken")
  func largest() {
    #expect(rule([:]) == nil)
    #expect(rule(["k": x(253)]) == nil)
    #expect(rule([x(250): "abcd"]) == nil)
    #expect(rule(["a": x(253), "b": x(143)]) == nil)
    #expect(rule(Dictionary(uniqueKeysWithValues: (0..<32).map { ("\($0)", "") })) == nil)
  }

  @Test("one more is refused, with both numbers")
  func oneMore() {
    #expect(rule(["k": x(254)]) == "a pair of the discovery info has at most 255 bytes; k has 256")
    // Bytes count, not characters.
    #expect(rule(["k": String(repeating: "é", count: 127)]) != nil)
    #expect(rule([x(251): ""]) == "a key of the discovery info has at most 250 bytes; one has 251")
    #expect(rule(["a": x(253), "b": x(144)]) == "the discovery info has at most 400 bytes; this one has 401")
    #expect(
      rule(Dictionary(uniqueKeysWithValues: (0..<33).map { ("\($0)", "") }))
        == "the discovery info has at most 32 pairs; this one has 33")
  }

  @Test("keys are printable ASCII without '=', and differ not only in case")
  func keys() {
    for key in ["", "a=b", "é", "a\n", "\u{7F}"] {
      #expect(
        rule([key: "v"]) == "a key of the discovery info is printable ASCII without '='", "\(key.debugDescription)")
    }
    #expect(rule(["Key": "1", "kEY": "2"]) == "keys of the discovery info differ not only in case; 'kEY' comes twice")
    #expect(rule([" !~": "a=b\n€"]) == nil)
  }
}
