import PiconetEngine
import PiconetWire
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("The questions of imagesend about receivers")
struct FirstContactTests {
  private func node(_ number: UInt8) throws -> NodeID {
    let peer = try #require(PeerID(bytes: [UInt8](repeating: number, count: PeerID.byteCount)))
    return NodeID(peer: peer, incarnation: Incarnation(rawValue: 1))
  }

  @Test("each knows what became of the one before it: after one that was taken back nothing counts for a second")
  func former() throws {
    let terminal = try #require(PseudoTerminal())
    let question = try #require(AcceptQuestion(input: terminal.program))
    let (first, second) = (try node(1), try node(2))
    var state = FirstContact.State()
    var former = state.begin(question, about: first)
    #expect(former == AcceptQuestion.Former.none)
    state.end(about: first, with: .none)
    former = state.begin(question, about: second)
    #expect(former == .takenBack)
    #expect(former?.pause == .seconds(1))
    #expect(state.questions.count == 1)
    for answer in [.yes, .once, .no, .codesDiffer] as [AcceptQuestion.Answer] {
      state.end(about: second, with: answer)
      #expect(state.answers == [first: .none, second: answer])
      #expect(state.questions.isEmpty)
      former = state.begin(question, about: second)
      #expect(former == .answered)
    }
  }

  @Test("no question is asked about an attempt that has ended, and the end of the question before it still counts")
  func ended() throws {
    let terminal = try #require(PseudoTerminal())
    let question = try #require(AcceptQuestion(input: terminal.program))
    let (first, second, third) = (try node(1), try node(2), try node(3))
    var state = FirstContact.State()
    _ = state.begin(question, about: first)
    state.end(about: first, with: .none)
    state.ended.insert(second.peer)
    var former = state.begin(question, about: second)
    #expect(former == nil)
    #expect(state.questions.isEmpty)
    former = state.begin(question, about: third)
    #expect(former == .takenBack)
  }
}
