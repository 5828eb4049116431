import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("The budgets of invitations")
struct InvitationBudgetsTests {
  private func proven(_ node: NodeID) -> ProvenPeer {
    ProvenPeer(
      node: node, name: "", traits: someTraits, association: AssociationID(high: 1, low: 2), isKnown: false,
      messageLimit: 1000)
  }

  @Test("a peer that asks again too soon waits for its turn, or is refused if its invitation ends before")
  func tooSoon() {
    var budgets = InvitationBudgets(openQuestions: 8)
    budgets.refused(proven(node(2)), seconds(1))
    let pause = budgets.ask(node(2), at: "far", isKnown: false, comparesCodes: true, until: seconds(2), seconds(1))
    guard case .refused(let words) = pause else {
      Issue.record("\(pause)")
      return
    }
    #expect(words.contains("too soon"))
    let longer = budgets.ask(node(2), at: "far", isKnown: false, comparesCodes: true, until: seconds(9), seconds(1))
    let early = budgets.takeQuestions(at: seconds(1))
    #expect(longer == .taken && early.isEmpty && budgets.nextDeadline == seconds(2))
    budgets.deadlineReached(at: seconds(2))
    let asked = budgets.takeQuestions(at: seconds(2))
    #expect(asked == [node(2)])
  }

  @Test("the code that is set has so many tries left as the last wrong one says, and none when it is over")
  func wrongTries() {
    var budgets = InvitationBudgets(openQuestions: 8)
    budgets.set(TypedCodeID(rawValue: 1))
    for (number, left) in [(UInt64(1), 2), (2, 1), (3, 0)] {
      guard case .success(let begun) = budgets.beginTry(proven(node(UInt8(number))), seconds(100 * number)) else {
        Issue.record("no try \(number)")
        return
      }
      let rest = budgets.wasWrong(begun, seconds(100 * number))
      #expect(rest == left)
    }
    #expect(budgets.isCodeSet)
  }
}
