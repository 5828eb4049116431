import PiconetWire
import Testing

@testable import PiconetEngine

/// Strangers invite an application that accepts without asking.
@Suite("Codes of strangers that are under way")
struct CodesUnderWayTests {
  private let side = Side(node(250), configuration { $0.capacity = 32 })

  init() { side.judgement = .new }

  private func link(_ byte: UInt8) -> LinkID { LinkID(rawValue: 100 + UInt64(byte)) }

  @discardableResult
  private func receive(_ byte: UInt8, _ frames: Frame...) -> Outcome {
    side.take(.received(link(byte), frames.flatMap { FrameEncoder.encode($0) }[...]))
  }

  private func invite(_ byte: UInt8, at address: String, _ terms: InvitationTerms = .comparesCodes) -> Outcome {
    let traits = LinkTraits(kind: .tcp, remoteAddress: address)
    side.take(.linkOpened(link(byte), LinkOpening(dial: nil, peer: peer(byte), traits: traits)))
    receive(byte, .hello(Hello(incarnation: node(byte).incarnation, name: "\(byte)", sessionID: "test")))
    receive(byte, .associate(AssociationID(high: 3, low: UInt64(byte)), received: 0))
    return receive(byte, .invite(Invite(timeout: 60_000, terms: terms, commitment: someCommitment)))
  }

  private func show(_ byte: UInt8) -> Outcome { side.command(.showCode(node(byte)), id: 1_000_000 + UInt64(byte)) }

  private func accept(_ byte: UInt8) -> Outcome {
    side.command(.answerInvitation(node(byte), accept: true, .declined))
  }

  /// Invites, gets a nonce and `accept`, and says nothing more.
  /// - Returns: whether it was let that far.
  private func hold(_ byte: UInt8, at address: String) -> Bool {
    guard isAsked(invite(byte, at: address)) else { return false }
    _ = show(byte)
    receive(byte, .codeReveal(someNonce))
    return accept(byte).frames.contains(.accept)
  }

  private func drop(_ byte: UInt8) { side.take(.linkClosed(link(byte), .failed(LinkFailure(.reset)))) }

  private func isAsked(_ outcome: Outcome) -> Bool {
    outcome.events.contains { if case .invitationReceived = $0 { true } else { false } }
  }

  /// The words with which an invitation was declined as one too many.
  private func refusal(_ outcome: Outcome) -> String? {
    guard case .decline(.limitExceeded, let words)? = outcome.frames.last else { return nil }
    return words
  }

  private var wrong: Int { side.engine.turn.budgets.strangers.countOfAll }

  @Test("ten keys at one address have seven codes at once, which cost it its hour, and no other address anything")
  func oneAddress() {
    let held = (1...10).filter { hold($0, at: "a") }
    #expect(held == Array(1...7))
    for byte: UInt8 in 1...10 { drop(byte) }
    #expect(wrong == 7)
    #expect(
      refusal(invite(11, at: "a"))?.hasSuffix(
        "from its address were wrong or broke off: it is listened to again in 1 hour") == true)
    #expect(isAsked(invite(12, at: "b")) && isAsked(invite(13, at: "c", [])))
  }

  @Test("those that were asked about while others waited are declined when no try is left, before a nonce is given")
  func waiting() {
    for byte: UInt8 in 1...8 { _ = invite(byte, at: "a") }
    for byte: UInt8 in 1...7 {
      #expect(show(byte).frames.contains { if case .codeNonce = $0 { true } else { false } })
      receive(byte, .codeReveal(someNonce))
      #expect(accept(byte).frames.contains(.accept))
    }
    let eighth = show(8)
    #expect(refusal(eighth)?.contains("being compared") == true)
    guard case .failed(let ending)? = eighth.replies(to: 1_000_008).first else {
      Issue.record("\(eighth)")
      return
    }
    #expect(ending.reason == .limitExceeded)
    #expect(eighth.events.contains(.invitationEnded(node(8), ending)))
  }

  @Test("a code that ends in membership gives its try back")
  func givenBack() {
    for byte: UInt8 in 1...7 { #expect(hold(byte, at: "a")) }
    #expect(refusal(invite(8, at: "a"))?.contains("being compared") == true)
    receive(2, .admit)
    #expect(side.members == [node(2)])
    #expect(hold(9, at: "a") && !hold(10, at: "a"))
  }

  @Test("all strangers together have ten codes, those under way included; a stranger without one is still asked about")
  func all() {
    let held = (1...12).filter { hold($0, at: "\($0)") }
    #expect(held == Array(1...10))
    #expect(refusal(invite(13, at: "13"))?.contains("strangers") == true)
    #expect(isAsked(invite(14, at: "14", [])))
    for byte in held { drop(byte) }
    #expect(wrong == 10)
    #expect(refusal(invite(15, at: "15"))?.contains("1 hour") == true)
    #expect(isAsked(invite(16, at: "16", [])) && accept(16).frames == [.accept])
    receive(16, .admit)
    #expect(side.members == [node(16)])
    // For a code that only our own policy compares, no try is left.
    side.judgement = .ask
    #expect(refusal(invite(17, at: "17", []))?.contains("1 hour") == true)
    // A code that no policy requires is not shown either.
    side.judgement = .new
    #expect(isAsked(invite(18, at: "18", [])))
    #expect(refusal(show(18))?.contains("1 hour") == true)
  }

  @Test("codes of known peers do not count as under way")
  func known() {
    side.judgement = .known
    for byte: UInt8 in 1...6 { #expect(hold(byte, at: "a")) }
    side.judgement = .new
    #expect(isAsked(invite(7, at: "a")))
  }
}
