import Foundation
import Glibc
import PiconetEngine
import PiconetTLS
import PiconetWire
import Testing

@testable import Piconet

/// Peers with a key that break the protocol: their link ends with the reason, and no other peer notices.
@Suite("A peer that breaks the protocol", .timeLimit(.minutes(15)))
struct HostileFrameTests {
  enum Stage: CaseIterable { case secured, greeted, associated, member }

  static let digest = ResourceDigest(sha256: [UInt8](repeating: 0, count: 32))!
  /// Frames, and the stages at which each is wrong. At a stage that is missing the frame is in order, or may be: a peer
  /// that is greeted may be associated the next moment.
  static let frames: [(name: String, frame: Frame, wrong: Set<Stage>)] = [
    ("codeNonce", .codeNonce([UInt8](repeating: 0, count: 32)), Set(Stage.allCases)),
    ("codeReveal", .codeReveal([UInt8](repeating: 0, count: 32)), Set(Stage.allCases)),
    ("admit", .admit, Set(Stage.allCases)),
    ("associate", .associate(AssociationID(high: 0, low: 0), received: 0), [.secured, .associated, .member]),
    ("associated", .associated(received: 0, begun: 1), [.secured, .associated, .member]),
    ("ping", .ping(1), [.secured]),
    ("pong", .pong(1), [.secured]),
    ("acknowledge", .acknowledge(received: 1 << 40), Set(Stage.allCases)),
    ("messageCredit", .messageCredit(limit: 1), [.secured]),
    ("unreliableMessage", .unreliableMessage(number: 1, [1]), [.secured, .greeted, .associated]),
    ("chunk", .chunk(transfer: 0, [1]), Set(Stage.allCases)),
    ("position", .position(transfer: 0, offset: 0), Set(Stage.allCases)),
    ("transferCredit", .transferCredit(transfer: 0, stored: 0, limit: 1), Set(Stage.allCases)),
    ("end", .end(transfer: 0, size: 1, digest), Set(Stage.allCases)),
    ("message", .message([1]), [.secured, .greeted, .associated]),
    ("fragment", .fragment([1]), [.secured, .greeted, .associated]),
    (
      "invite", .invite(Invite(timeout: 1, commitment: [UInt8](repeating: 0, count: 32))),
      [.secured, .member]
    ),
    ("accept", .accept, Set(Stage.allCases)),
    ("decline", .decline(.declined, detail: ""), Set(Stage.allCases)),
    ("withdraw", .withdraw(.cancelled), [.secured]),
    ("leave", .leave(.left, detail: ""), [.secured]),
    ("offer", .offer(transfer: 0, ResourceOffer(name: [65], size: 1)), [.secured, .greeted, .associated]),
    ("acceptOffer", .acceptOffer(transfer: 0, offset: 0, limit: 1), Set(Stage.allCases)),
    ("declineOffer", .declineOffer(transfer: 0, .declined, detail: ""), Set(Stage.allCases)),
    ("stored", .stored(transfer: 0, name: [65]), Set(Stage.allCases)),
    ("present", .present(transfer: 0, name: [65]), Set(Stage.allCases)),
    ("restart", .restart(transfer: 0, offset: 0, limit: 1), Set(Stage.allCases)),
    ("comparing", .comparing(transfer: 0, compared: 1), [.secured]),
    ("abandon", .abandon(transfer: 0, .cancelled, detail: ""), [.secured]),
    ("refuse", .refuse(transfer: 0, .cancelled, detail: ""), Set(Stage.allCases)),
    ("senderPaused", .senderPaused(transfer: 0, true), [.secured]),
    ("receiverPaused", .receiverPaused(transfer: 0, true), [.secured]),
    ("listening", .listening([]), [.secured]),
    ("channelMessage", .channelMessage(1, [1]), [.secured, .greeted, .associated]),
    ("channelFragment", .channelFragment(1, [1]), [.secured, .greeted, .associated]),
    ("channelCredit", .channelCredit(1, limit: 1), [.secured]),
    ("inviteByCode", .inviteByCode(InviteByCode(timeout: 1, share: share)), [.secured, .member]),
    ("codeAnswer", .codeAnswer(CodeAnswer(share: [], confirmation: [], left: 0)), Set(Stage.allCases)),
    ("codeConfirm", .codeConfirm([]), Set(Stage.allCases)),
    ("askToCompare", .comparison(.ask(timeout: 1, commitment: nonce)), Set(Stage.allCases)),
    ("compareNonce", .comparison(.nonce(nonce)), Set(Stage.allCases)),
    ("compareReveal", .comparison(.reveal(nonce)), Set(Stage.allCases)),
    ("sameCode", .comparison(.same), Set(Stage.allCases)),
    ("endComparison", .comparison(.end(.cancelled, detail: "")), Set(Stage.allCases)),
    ("removeMember", .removeMember(subject: somebody, .removed), [.secured, .greeted, .associated]),
    ("removed", .removed(by: somebody), [.secured, .greeted, .associated]),
    ("introduce", .introduce(Introduce(somebody, timeout: 1, name: "")), [.secured, .greeted, .associated]),
    ("introduced", .introduced(somebody), Set(Stage.allCases)),
    ("introductionFailed", .introductionFailed(somebody, .declined, detail: ""), Set(Stage.allCases)),
    ("withdrawIntroduction", .withdrawIntroduction(somebody, .cancelled), [.secured, .greeted, .associated]),
    ("askToIntroduce", .askToIntroduce(somebody), [.secured, .greeted, .associated]),
    ("groupView", .groupView(GroupView(capacity: 2, smallest: 2, rank: 0, highest: 0)), [.secured]),
    ("openStream", .openStream(stream: 0, name: ""), [.secured, .greeted, .associated]),
    ("streamData", .streamData(stream: 0, [1]), Set(Stage.allCases)),
    ("endStream", .endStream(stream: 0), Set(Stage.allCases)),
    ("resetStream", .resetStream(stream: 0, .cancelled, detail: ""), [.secured]),
    ("streamCredit", .streamCredit(stream: 0, limit: 1), Set(Stage.allCases)),
    ("stopStream", .stopStream(stream: 0, .cancelled, detail: ""), Set(Stage.allCases)),
    ("streamDone", .streamDone(stream: 0), Set(Stage.allCases)),
    // The numbers that a side may open depend on the keys, which are drawn: RelayedTunnelTests has those.
    ("tunnelCredit", .tunnelCredit(tunnel: 0, consumed: 0, limit: 1), [.secured, .greeted, .associated]),
    ("tunnelOpened", .tunnelOpened(tunnel: 0, relays: 1), Set(Stage.allCases)),
    ("tunnelData", .tunnelData(tunnel: 0, [1]), Set(Stage.allCases)),
    ("closeTunnel", .closeTunnel(tunnel: 0, .left, detail: ""), Set(Stage.allCases)),
  ]
  /// No point of the group. The host does not look at it where no code is set.
  private static let share = [UInt8](repeating: 4, count: InviteByCode.shareCount)
  private static let nonce = [UInt8](repeating: 5, count: Invite.nonceCount)
  private static let somebody = NodeID(
    peer: PeerID(bytes: [UInt8](repeating: 7, count: PeerID.byteCount))!, incarnation: Incarnation(rawValue: 7))

  @Test("frames of every type at the wrong time end the link with protocolBroken", arguments: Stage.allCases)
  func wrongTime(stage: Stage) async throws {
    try await Host.run { host in
      let wrong = Self.frames.filter { $0.wrong.contains(stage) }
      let said = try await blocking {
        try wrong.map { item in (item.name, try Self.link(to: host, at: stage, item.frame).readToEnd()?.reason) }
      }
      for (name, reason) in said { #expect(reason == .protocolBroken, "\(name)") }
      // Before there is an association, nothing can be asked that would show that the link lives.
      guard stage == .associated || stage == .member else { return try await host.servesAnHonestPeer() }
      let inOrder = Self.frames.filter { !$0.wrong.contains(stage) }
      let answers = try await blocking {
        try inOrder.map { item in
          let raw = try Self.link(to: host, at: stage, item.frame)
          try? raw.send(.ping(99))
          var frames: [Frame] = []
          while let frame = try raw.next() {
            frames.append(frame)
            if frame == .pong(99) { break }
          }
          return (item.name, frames)
        }
      }
      for (name, frames) in answers {
        // A frame that ends the association in good order ends the link.
        #expect(frames.contains(.pong(99)) == (name != "leave"), "\(name): \(frames)")
      }
      try await host.servesAnHonestPeer()
    }
  }

  private static func link(to host: Host, at stage: Stage, _ frame: Frame) throws -> RawLink {
    let raw = try RawLink(to: host.address)
    switch stage {
    case .secured: try raw.secure()
    case .greeted:
      try raw.secure()
      try raw.send(.hello(raw.hello()))
      _ = try raw.wait(for: "hello") { if case .hello = $0 { true } else { nil } }
    case .associated: try raw.associate()
    case .member: try raw.join()
    }
    // The host may have closed the link before the frame is written. Its reason can still be read.
    try raw.send(frame)
    return raw
  }

  @Test("a second hello, an unknown required frame, a frame above the limit and one that is cut short end the link")
  func broken() async throws {
    try await Host.run { host in
      let member: @Sendable ([UInt8]) async throws -> Reason? = { bytes in
        try await blocking {
          let raw = try RawLink(to: host.address)
          try raw.join()
          try raw.write(bytes)
          return try raw.readToEnd()?.reason
        }
      }
      let hello = try await blocking { FrameEncoder.encode(.hello(try RawLink(to: host.address).hello())) }
      #expect(try await member(hello) == .protocolBroken)
      #expect(try await member([0x20, 0]) == .protocolBroken)
      #expect(try await member([0x7F, 0]) == .protocolBroken)
      // A message frame that announces a gigabyte.
      #expect(try await member([FrameType.message, 0xC0, 0, 0, 0, 0x40, 0, 0, 0]) == .protocolBroken)
      #expect(try await member([FrameType.codeReveal, 1, 1]) == .protocolBroken)
      #expect(try await member([FrameType.acceptOffer, 3, 0, 9, 1]) == .protocolBroken)
      // Random bytes, seeded: whatever they are, the host lives.
      var random = SeededRandom(seed: 7)
      for _ in 0..<20 {
        let bytes = (0..<2000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        try await blocking {
          let raw = try RawLink(to: host.address)
          try raw.join()
          try? raw.write(bytes)
          // They may announce a long frame, but nothing more comes.
          shutdown(raw.socket, Int32(SHUT_WR))
          _ = try raw.readToEnd()
        }
      }
      try await host.servesAnHonestPeer()
    }
  }

  @Test("messages beyond the credit, and above the limit, end the association with limitExceeded")
  func credit() async throws {
    try await Host.run({ $0.messageLimit = 20_000 }) { host in
      let flood = try await blocking {
        let raw = try RawLink(to: host.address)
        try raw.join()
        let frame = FrameEncoder.encode(.message([UInt8](repeating: 1, count: 16_000)[...]))
        // The program reads no messages here, so no credit ever comes back.
        for _ in 0..<80 { guard (try? raw.write(frame)) != nil else { break } }
        return try raw.readToEnd()
      }
      #expect(flood?.reason == .limitExceeded && flood?.detail.contains("credit") == true)
      let tooLong = try await blocking {
        let raw = try RawLink(to: host.address)
        try raw.join()
        let part = [UInt8](repeating: 1, count: 16_000)[...]
        try raw.send(.fragment(part), .fragment(part))
        return try raw.readToEnd()
      }
      #expect(tooLong?.reason == .limitExceeded && tooLong?.detail.contains("20000") == true)
      for await error in host.departures.prefix(2) { #expect(error.code == .limitExceeded && error.blame == .peer) }
      try await host.servesAnHonestPeer()
    }
  }

  @Test("unknown optional frames are skipped, however many come; of sequenced ones 4,096, and with more the link ends")
  func unknownOptional() async throws {
    try await Host.run { host in
      let sequenced: [UInt8] = [0xC0, 0]
      let frames = try await blocking {
        let raw = try RawLink(to: host.address)
        try raw.join()
        let unknown: [UInt8] = [0x80, 3, 1, 2, 3]
        let many = [UInt8]((0..<10_000).flatMap { _ in unknown })
        for _ in 0..<10 { try raw.write(many) }
        try raw.write([UInt8]((0..<4_096).flatMap { _ in sequenced }))
        try raw.send(.ping(5))
        return try raw.wait(for: "pong") { if case .pong(let token) = $0 { token } else { nil } }
      }
      #expect(frames == 5)
      let ending = try await blocking {
        let raw = try RawLink(to: host.address)
        try raw.join()
        try raw.write([UInt8]((0..<8_192).flatMap { _ in sequenced }))
        return try raw.readToEnd()
      }
      #expect(ending?.reason == .limitExceeded)
      try await host.servesAnHonestPeer()
    }
  }
}
