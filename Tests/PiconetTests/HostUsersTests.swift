import Testing

@testable import Piconet

@Suite("Who keeps a host")
struct HostUsersTests {
  private enum Act { case begin, add(Int), fail, remove(Int), letGo, stop }

  /// What each act returns; for stopping, whether there was a node.
  private func outcomes(_ acts: Act...) -> [Bool] {
    var users = HostUsers<Int, Int>()
    return acts.map { act in
      switch act {
      case .begin: users.begin()
      case .add(let node): users.add(node, as: node)
      case .fail: users.failed()
      case .remove(let node): users.remove(node)
      case .letGo: users.letGo()
      case .stop: !users.beginStopping().isEmpty
      }
    }
  }

  @Test("a host that is let go ends with the last of its nodes")
  func letGo() {
    let outcomes = outcomes(.begin, .add(1), .begin, .add(2), .letGo, .remove(1), .remove(2))
    #expect(outcomes == [true, true, true, true, false, false, true])
  }

  @Test("a host without nodes ends at once when it is let go, and only once; no node is made from then on")
  func unused() { #expect(outcomes(.letGo, .letGo, .begin) == [true, false, false]) }

  @Test("as long as it is held it stays, though its nodes have ended")
  func held() {
    let outcomes = outcomes(.begin, .add(1), .remove(1), .begin, .fail, .letGo)
    #expect(outcomes == [true, true, false, true, false, true])
  }

  @Test("a node that is being made keeps it, whether it comes or fails")
  func beginning() {
    let outcomes = outcomes(.begin, .begin, .letGo, .fail, .add(1), .remove(1), .remove(1))
    #expect(outcomes == [true, true, false, false, true, true, false])
  }

  @Test("once it stops it takes no node; one that was being made is told so, and counts until it has ended")
  func stopping() {
    let outcomes = outcomes(.begin, .add(1), .begin, .stop, .begin, .add(2), .remove(1), .letGo, .remove(2))
    #expect(outcomes == [true, true, true, true, false, false, false, false, true])
  }
}
