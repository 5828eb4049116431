import PiconetEngine
import PiconetWire
import Testing

/// An attacker in the middle, with a link to each side, searches, aborts, crosses and relays. There are few codes
/// here, so that the attacker's wins can be counted.
@Suite("An attacker in the middle has one try for each question")
struct MiddlemanTests {
  static let codeCount: UInt64 = 8

  private static func key(_ number: UInt64) -> NodeID {
    var bytes = [UInt8](repeating: 0x55, count: PeerID.byteCount)
    for place in 0..<8 { bytes[8 + place] = UInt8(truncatingIfNeeded: number >> (8 * UInt64(place))) }
    return NodeID(peer: PeerID(bytes: bytes)!, incarnation: Incarnation(rawValue: number))
  }

  private static func invite(_ nonce: [UInt8], _ terms: InvitationTerms = []) -> Frame {
    .invite(Invite(timeout: 20_000, terms: terms, commitment: Codes.hash(nonce)))
  }

  private static func nonce(of frames: [Frame]) -> [UInt8]? {
    for frame in frames {
      if case .codeNonce(let nonce) = frame { return nonce }
      if case .codeReveal(let nonce) = frame { return nonce }
    }
    return nil
  }

  @Test("links by the thousand, in silence, with associations or without, give not one nonce")
  func search() {
    let victim = Victim(0x90, judgement: .new, seed: 1, codeCount: Self.codeCount)
    for number: UInt64 in 0..<3_000 {
      let link = victim.accept(Self.key(number), from: "10.0.0.1:\(number)")
      victim.receive(.ping(number), on: link)
      if number % 3 == 0 { victim.cut(link) }
    }
    #expect(victim.noncesDrawn == 0 && victim.noncesGiven == 0 && victim.questions == 0)
  }

  enum Plan: CaseIterable {
    /// The invited side first: the attacker knows its code before it has to choose a nonce for the inviter.
    case invitedFirst
    /// The inviter first.
    case inviterFirst
    /// The attacker crosses the inviter's invitation with its own.
    case crossing
  }

  /// One evening: Ada invites, Bea is asked, and the attacker plays the other one to each of them.
  /// - Returns: whether the attacker has become a member on both sides.
  private func evening(_ plan: Plan, seed: UInt64, inviterCompares: Bool, _ notes: inout [String]) -> Bool {
    var dice = SeededRandom(seed: seed)
    let ada = Victim(
      seed % 2 == 0 ? 0x10 : 0xA0, judgement: inviterCompares ? .ask : .new, seed: seed &* 3, codeCount: Self.codeCount)
    let bea = Victim(0x90, judgement: .new, seed: seed &* 5 &+ 1, codeCount: Self.codeCount)
    let (toAda, toBea) = (Self.key(1), Self.key(2))
    let adaLink = ada.accept(toAda, from: "10.0.0.1:1")
    let beaLink = bea.accept(toBea, from: "10.0.0.1:2")
    _ = (ada.read(adaLink), bea.read(beaLink))
    let own = Codes.nonce(&dice)

    func askBea() -> String? {
      bea.receive(Self.invite(own), on: beaLink)
      guard let nonce = Self.nonce(of: bea.read(beaLink)) else { return nil }
      let inputs = CodeInputs(
        inviter: toBea.peer, invited: bea.node.peer, inviterNonce: own, invitedNonce: nonce, commitment: [])
      return Codes.code(inputs, channel: (bea.node, LinkID(rawValue: 1)), of: Self.codeCount)
    }
    func askAda() -> String? {
      ada.invite(toAda)
      if plan == .crossing {
        ada.receive(Self.invite(own), on: adaLink)
        if let nonce = Self.nonce(of: ada.read(adaLink)) {
          let inputs = CodeInputs(
            inviter: toAda.peer, invited: ada.node.peer, inviterNonce: own, invitedNonce: nonce, commitment: [])
          return Codes.code(inputs, channel: (ada.node, LinkID(rawValue: 1)), of: Self.codeCount)
        }
      }
      // The attacker chooses without knowing what Ada's nonce will make of it.
      ada.receive(.codeNonce(Codes.nonce(&dice)), on: adaLink)
      _ = ada.read(adaLink)
      return ada.screen?.code
    }
    let (first, second) = plan == .invitedFirst ? (askBea(), askAda()) : (askAda(), askBea())
    guard let first, let second else {
      // Ada's program accepts an invitation that crosses hers; her screen shows nothing, and Bea says so.
      if plan != .crossing || inviterCompares { notes.append("\(plan): nobody shows anything") }
      bea.receive(.codeReveal(own), on: beaLink)
      bea.answer(isSame: false)
      if !bea.members.isEmpty { notes.append("\(plan): Bea has compared nothing") }
      return false
    }
    if first != second {
      // It is no use to go on: the attacker leaves both, so that this try might not count.
      ada.cut(adaLink)
      bea.wait(.seconds(3))
      bea.cut(beaLink)
      if !ada.members.isEmpty || !bea.members.isEmpty { notes.append("\(plan): a member with different codes") }
      return false
    }
    // Of two invitations that cross, the smaller node's counts.
    let isHisThatCounts = plan == .crossing && toAda < ada.node
    bea.receive(.codeReveal(own), on: beaLink)
    if isHisThatCounts { ada.receive(.codeReveal(own), on: adaLink) }
    // Both persons look at both screens.
    let isSame = ada.screen != nil && ada.screen?.code == bea.screen?.code
    ada.answer(isSame: isSame)
    bea.answer(isSame: isSame)
    ada.receive(isHisThatCounts ? .admit : .accept, on: adaLink)
    bea.receive(.admit, on: beaLink)
    return bea.members.contains(toBea) && ada.members.contains(toAda)
  }

  @Test(
    "over many evenings the attacker wins only by chance, whichever side it asks first", arguments: Plan.allCases,
    [true, false])
  func chance(plan: Plan, inviterCompares: Bool) {
    let evenings = 800
    var notes: [String] = []
    let won = (0..<evenings).count { evening(plan, seed: UInt64($0) + 1, inviterCompares: inviterCompares, &notes) }
    #expect(notes.isEmpty, "\(notes.prefix(3))")
    if plan == .crossing, !inviterCompares {
      #expect(won == 0)
    } else {
      // One in eight is a hundred; five standard deviations are 47.
      #expect((100 - 47...100 + 47).contains(won), "\(won) of \(evenings)")
    }
  }

  enum Abort: CaseIterable { case noReveal, withdraw, cut, wrongReveal, leave, decline }

  /// An hour of the attacker's tries at a person who is asked each time and always sees different codes.
  private func hour(_ next: (UInt64) -> (NodeID, String), _ abort: Abort, judgement: TrustJudgement = .new) -> Victim {
    let victim = Victim(0x90, judgement: judgement, seed: 9, codeCount: Self.codeCount)
    var dice = SeededRandom(seed: 4)
    let end = victim.now + .seconds(3_590)
    var number: UInt64 = 0
    while victim.now < end, number < 4_000 {
      number += 1
      let (far, address) = next(number)
      let link = victim.accept(far, from: address)
      let own = Codes.nonce(&dice)
      victim.receive(Self.invite(own), on: link)
      // The turn of this one may come later.
      var isAsked = false
      for _ in 0..<5 where !isAsked {
        victim.wait(.milliseconds(900))
        isAsked = Self.nonce(of: victim.read(link)) != nil
      }
      if isAsked {
        switch abort {
        case .noReveal: victim.wait(.seconds(3))
        case .withdraw: victim.receive(.withdraw(.cancelled), on: link)
        case .wrongReveal: victim.receive(.codeReveal(Codes.nonce(&dice)), on: link)
        case .leave: victim.receive(.leave(.left, detail: ""), on: link)
        case .cut: break
        case .decline:
          victim.receive(.codeReveal(own), on: link)
          victim.answer(isSame: false)
        }
      }
      victim.cut(link)
    }
    return victim
  }

  @Test("an attacker with one key has three wrong codes in an hour, or breaks off five", arguments: Abort.allCases)
  func oneKey(abort: Abort) {
    let victim = hour({ number in (Self.key(1), "10.0.\(number / 250).\(number % 250):1") }, abort)
    let tries = [.withdraw, .leave, .cut].contains(abort) ? 5 : 3
    #expect(victim.noncesGiven == tries && victim.members.isEmpty)
  }

  @Test("an attacker at one address has seven tries, with any number of keys", arguments: Abort.allCases)
  func oneAddress(abort: Abort) {
    let victim = hour({ number in (Self.key(number), "10.0.0.1:\(number)") }, abort)
    #expect(victim.noncesGiven == 7 && victim.members.isEmpty)
  }

  @Test("an attacker with any number of keys and addresses has ten tries", arguments: Abort.allCases)
  func allOfThem(abort: Abort) {
    let next = { (number: UInt64) in (Self.key(number), "10.\(number / 250).\(number % 250).1:1") }
    let victim = hour(next, abort, judgement: .ask)
    #expect(victim.noncesGiven == 10 && victim.questions == 10 && victim.members.isEmpty)
    // The victim also asks about a peer that it need not compare, and shows no code for it.
    let accepting = hour(next, abort)
    let (nonces, members) = (accepting.noncesGiven, accepting.members.count)
    #expect(nonces == 10 && members == 0)
  }

  @Test("known peers that break off are asked about each time")
  func known() {
    let victim = Victim(0x90, judgement: .known, seed: 9, codeCount: Self.codeCount)
    for number: UInt64 in 0..<40 {
      let link = victim.accept(Self.key(number), from: "10.0.0.1:\(number)")
      victim.receive(Self.invite(Codes.hash([1])), on: link)
      #expect(Self.nonce(of: victim.read(link)) != nil)
      victim.cut(link)
    }
    #expect(victim.questions == 40)
  }

  @Test("sixty invitations of the attacker delay an honest one for a minute, and no longer")
  func queue() {
    let victim = Victim(0x90, judgement: .new, seed: 9, codeCount: Self.codeCount)
    for number: UInt64 in 0..<60 {
      let link = victim.accept(Self.key(number), from: "10.0.0.1:\(number)")
      let nonce = Codes.hash([1])
      victim.receive(.invite(Invite(timeout: 300_000, commitment: Codes.hash(nonce))), on: link)
      // The attacker reveals its nonce, so that its question stays.
      if Self.nonce(of: victim.read(link)) != nil { victim.receive(.codeReveal(nonce), on: link) }
    }
    let honest = Self.key(1_000)
    let link = victim.accept(honest, from: "10.0.0.2:1")
    victim.receive(.invite(Invite(timeout: 300_000, commitment: Codes.hash([2]))), on: link)
    victim.wait(.seconds(61))
    #expect(Self.nonce(of: victim.read(link)) != nil)
  }
}
