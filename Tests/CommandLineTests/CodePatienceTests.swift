import Testing

@testable import PiconetCommandLine

@Suite("How long a sender waits until a code is taken again")
struct CodePatienceTests {
  @Test("a little longer than the receiver says, as long as the time-out allows, and never without a pause")
  func waits() {
    let patience = CodePatience(limit: .seconds(10))
    #expect(patience.wait(for: .seconds(2), after: .zero) == .seconds(2) + CodePatience.margin)
    #expect(patience.wait(for: .seconds(2), after: .seconds(7)) == .seconds(2) + CodePatience.margin)
    #expect(patience.wait(for: .seconds(2), after: .seconds(8)) == nil)
    #expect(patience.wait(for: .seconds(300), after: .zero) == nil)
    for pause in [Duration.zero, .milliseconds(1), .milliseconds(140)] {
      #expect(patience.wait(for: pause, after: .zero) == CodePatience.shortest)
      #expect(
        patience.wait(for: pause, after: .seconds(10)) == nil && patience.wait(for: pause, after: .seconds(11)) == nil)
    }
  }
}
