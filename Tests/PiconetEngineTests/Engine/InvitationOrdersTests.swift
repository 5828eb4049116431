import PiconetWire
import Testing

@testable import PiconetEngine

/// Invitations, answers and withdrawals of two sides in every order, over a link that keeps the order of each side.
@Suite("Invitations in every order")
struct InvitationOrdersTests {
  /// i(nvite), w(ithdraw the last), a(ccept), d(ecline), x: wait until all invitations have expired.
  static let scripts = [
    "i|a", "i|d", "iw|a", "iw|d", "i|i", "iw|i", "iw|iw", "iwi|a", "iwi|i", "iwi|aa", "iwi|da", "iwi|ad", "iwi|iw",
    "iwiw|a", "iwiw|i", "i|ia", "i|ida", "iw|ia", "ia|ia", "id|id", "iwa|ia", "i|x", "ix|a", "ix|i", "ix|x", "i|xa",
    "ixi|a", "iwi|xa", "iwia|i", "ii|a", "iw|aa",
  ]

  private func perform(_ letter: Character, _ place: Int, _ two: TwoSided, _ index: Int) -> (Side) -> Void {
    let far = two.sides[1 - index].node
    switch letter {
    case "i":
      return { $0.command(.invite(.node(far), context: [], timeout: .seconds(30)), id: UInt64(place)) }
    case "w": return { $0.command(.cancelInvitation(CommandID(rawValue: UInt64(place - 1))), id: UInt64(place)) }
    case "a": return { $0.command(.answerInvitation(far, accept: true, .declined), id: UInt64(place)) }
    case "d": return { $0.command(.answerInvitation(far, accept: false, .declined), id: UInt64(place)) }
    default: return { _ = $0.wait(.seconds(31)) }
    }
  }

  private func world(_ letters: [[Character]]) -> TwoSided {
    // "x" waits longer than any silence that a link survives, and each side waits by itself.
    let mortal = configuration { $0.disconnectTimeout = .zero }
    let two = TwoSided(mortal, mortal).associated()
    for index in 0...1 {
      two.scripts[index] = letters[index].enumerated().map { perform($1, $0, two, index) }
      // A side says something as soon as it may.
      two.reactions[index] = { _, event in
        guard case .connected(let peer) = event else { return nil }
        return .messageQueued(peer.node, bytes(3), .reliable)
      }
    }
    return two
  }

  private func fault(_ two: TwoSided, _ letters: [[Character]]) -> String? {
    if two.isBreached { return "a rule was broken" }
    let census = two.sides.map(\.census)
    guard census[0].members == census[1].members, census[0].associations == census[1].associations else {
      return "they disagree: \(census)"
    }
    for index in 0...1 {
      let side = two.sides[index]
      for (place, letter) in letters[index].enumerated() where letter != "x" {
        let command = CommandID(rawValue: UInt64(place))
        let isWaiting =
          side.engine.attempts.commands.contains(command) || side.engine.associations.inviting(by: command) != nil
        let replies = side.log.replies(to: UInt64(place))
        guard replies.count == (isWaiting ? 0 : 1) else { return "\(index): \(letter) has the replies \(replies)" }
      }
      // What the application is told makes sense in the order in which it is told.
      var isMember = false
      var isInvited = false
      for effect in side.log.effects {
        switch effect {
        case .deliver(.connected):
          if isMember { return "\(index) is connected twice" }
          (isMember, isInvited) = (true, false)
        case .deliver(.disconnected):
          if !isMember { return "\(index) is disconnected from nobody" }
          isMember = false
        case .deliver(.invitationReceived):
          if isInvited || isMember { return "\(index) is invited again" }
          isInvited = true
        case .deliver(.invitationEnded):
          if !isInvited { return "\(index) lost an invitation that it had not" }
          isInvited = false
        case .reply(let command, .done) where command.rawValue < UInt64(letters[index].count):
          if "ad".contains(letters[index][Int(command.rawValue)]) { isInvited = false }
        default: break
        }
      }
      guard isMember == (census[index].members == 1) else { return "\(index) was told otherwise than it is" }
    }
    return nil
  }

  @Test(
    "both sides agree in the end, each command has one reply, and who becomes a member may speak at once",
    arguments: scripts)
  func agreement(script: String) {
    let parts = script.split(separator: "|").map { Array($0) }
    for letters in [parts, parts.reversed()] {
      #expect(TwoSided.inEveryOrder(of: { world(letters) }, fault: { fault($0, letters) }) >= 1)
    }
  }
}
