import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Which frames are legal when")
struct LegalFramesTests {
  /// One letter for each phase in which the frame is legal: h(ello), t(rust), R(eady), a(ctive).
  static let table: [(Frame, String)] = [
    (.hello(Hello(incarnation: Incarnation(rawValue: 1), name: "", sessionID: "")), "h"),
    (.associate(AssociationID(high: 1, low: 2), received: 0), "R"),
    (.associated(received: 0, begun: 1), "a"),
    (.close(.left, detail: ""), "htRa"),
    (.ping(1), "Ra"),
    (.pong(1), "Ra"),
    (.acknowledge(received: 1), "a"),
    (.messageCredit(limit: 1), "a"),
    (.channelMessage(1, [1]), "a"), (.channelFragment(1, [1]), "a"), (.channelCredit(1, limit: 1), "a"),
    (.unreliableMessage(number: 1, [1]), "a"),
    (.chunk(transfer: 0, [1]), "a"),
    (.position(transfer: 0, offset: 0), "a"),
    (.transferCredit(transfer: 0, stored: 0, limit: 1), "a"),
    (.end(transfer: 0, size: 0, someDigest), "a"),
    (.codeNonce(someNonce), "a"),
    (.codeReveal(someNonce), "a"),
    (.message([1]), "a"),
    (.fragment([1]), "a"),
    (.invite(Invite(timeout: 1, commitment: someCommitment)), "a"),
    (.accept, "a"),
    (.decline(.declined, detail: ""), "a"),
    (.withdraw(.cancelled), "a"),
    (.leave(.left, detail: ""), "a"),
    (.admit, "a"),
    (.inviteByCode(InviteByCode(timeout: 1, share: [UInt8](repeating: 4, count: InviteByCode.shareCount))), "a"),
    (.codeAnswer(CodeAnswer(share: [], confirmation: [], left: 0)), "a"),
    (.codeConfirm([]), "a"),
    (.comparison(.ask(timeout: 1, commitment: someCommitment)), "a"), (.comparison(.nonce(someNonce)), "a"),
    (.comparison(.reveal(someNonce)), "a"), (.comparison(.same), "a"),
    (.comparison(.end(.declined, detail: "")), "a"),
    (.removeMember(subject: NodeID(peer: peer(3), incarnation: Incarnation(rawValue: 3)), .removed), "a"),
    (.removed(by: NodeID(peer: peer(3), incarnation: Incarnation(rawValue: 3))), "a"),
    (.introduce(Introduce(someMember, timeout: 1, name: "")), "a"), (.introduced(someMember), "a"),
    (.introductionFailed(someMember, .declined, detail: ""), "a"),
    (.withdrawIntroduction(someMember, .cancelled), "a"), (.askToIntroduce(someMember), "a"),
    (.groupView(GroupView(capacity: 2, smallest: 2, rank: 0, highest: 0)), "a"),
    (.offer(transfer: 0, ResourceOffer(name: [1], size: 1)), "a"),
    (.acceptOffer(transfer: 0, offset: 0, limit: 1), "a"),
    (.declineOffer(transfer: 0, .declined, detail: ""), "a"),
    (.stored(transfer: 0, name: [1]), "a"), (.present(transfer: 0, name: [1]), "a"),
    (.restart(transfer: 0, offset: 0, limit: 1), "a"), (.comparing(transfer: 0, compared: 1), "a"),
    (.listening([]), "a"),
    (.abandon(transfer: 0, .cancelled, detail: ""), "a"),
    (.refuse(transfer: 0, .cancelled, detail: ""), "a"),
    (.senderPaused(transfer: 0, true), "a"),
    (.receiverPaused(transfer: 0, true), "a"),
    (.streamCredit(stream: 0, limit: 1), "a"),
    (.openStream(stream: 0, name: ""), "a"),
    (.streamData(stream: 0, [1]), "a"),
    (.endStream(stream: 0), "a"),
    (.resetStream(stream: 0, .cancelled, detail: ""), "a"),
    (.stopStream(stream: 0, .cancelled, detail: ""), "a"),
    (.streamDone(stream: 0), "a"),
    (.tunnelCredit(tunnel: 0, consumed: 0, limit: 1), "a"), (.openTunnel(tunnel: 0, to: someMember), "a"),
    (.offerTunnel(tunnel: 0, from: someMember, relays: 1), "a"), (.tunnelOpened(tunnel: 0, relays: 1), "a"),
    (.tunnelData(tunnel: 0, [1]), "a"), (.closeTunnel(tunnel: 0, .left, detail: ""), "a"),
    (.unknownOptional(type: 0xBF), "tRa"),
    (.unknownOptional(type: 0xFF), "tRa"),
  ]

  private static let someMember = NodeID(peer: peer(3), incarnation: Incarnation(rawValue: 3))

  static let phases: [(Link.Phase, Character)] = [
    (.awaitingHello, "h"), (.awaitingTrust, "t"), (.ready, "R"), (.active, "a"),
  ]

  @Test("every frame in every phase", arguments: table)
  func everyFrame(frame: Frame, legal: String) {
    for (phase, letter) in Self.phases {
      let link = link(reached: phase, at: seconds(1), EngineConfiguration(sessionID: "test", name: "test"))
      #expect(link.isLegal(frame) == legal.contains(letter), "0x\([frame.type].hexadecimal) in \(phase)")
    }
  }

  @Test("the table has every type of frame")
  func tableIsWhole() {
    let types = Set(Self.table.map(\.0.type))
    for type in UInt8.min...UInt8.max where !FrameType.isOptional(type) {
      var decoder = FrameDecoder(frameLimit: 16_381)
      decoder.push([type, 0])
      var isKnown = true
      do throws(WireError) { _ = try decoder.next() } catch {
        if case .unknownRequiredFrame = error { isKnown = false }
      }
      #expect(types.contains(type) == isKnown, "0x\([type].hexadecimal)")
    }
  }
}
