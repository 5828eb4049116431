import PiconetCalls
import Testing

@Suite("Signals that are kept")
struct KeptSignalsTests {
  static func key(_ number: Int) -> KeptSignals.Key { .init(path: "/", interface: "i", name: "n\(number)") }

  @Test("the latest value is kept, within limits of number and size")
  func limits() {
    var kept = KeptSignals()
    func keep(_ value: [UInt8], _ number: Int) -> Bool { kept.keep(value, for: Self.key(number)) }
    #expect(keep([1], 0))
    #expect(keep([2], 0))
    #expect(kept[Self.key(0)] == [2])
    for number in 1..<KeptSignals.countLimit { #expect(keep([1], number)) }
    #expect(!keep([1], 1_000))
    #expect(keep([3], 5))
    let large = [UInt8](repeating: 0, count: KeptSignals.byteLimit)
    #expect(!keep(large, 5))
    #expect(kept[Self.key(5)] == nil, "better none than an old one")
    for key in kept.keys { kept.remove(key) }
    #expect(keep(large, 5))
    #expect(!keep([1], 6))
  }

  @Test("a value that is set twice before it is reported is reported once, in its place")
  func unreported() {
    var unreported = UnreportedSignals()
    func next() -> KeptSignals.Key? { unreported.next() }
    for number in [1, 2, 1, 3, 2] { unreported.add(Self.key(number)) }
    #expect(next() == Self.key(1))
    unreported.add(Self.key(1))
    #expect([next(), next(), next()] == [Self.key(2), Self.key(3), Self.key(1)])
    #expect(next() == nil)
    #expect(unreported.isEmpty)
  }
}
