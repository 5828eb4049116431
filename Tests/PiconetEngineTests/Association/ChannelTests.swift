import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Messages in channels")
struct ChannelTests {
  /// An engine whose remote side is a member that takes messages in 64 channels.
  private func one(
    window: UInt64 = 1 << 20, _ change: (inout EngineConfiguration) -> Void = { _ in }
  ) -> OneSided {
    OneSided(configuration(change)).connected {
      $0.capabilities = [.resume]
      $0.limits.channels = 64
      $0.limits.channelWindow = window
    }
  }

  private func queue(_ count: Int, in channel: MessageChannel, _ one: OneSided) -> Fact {
    .messageQueued(one.far, bytes(count), .reliable, in: channel)
  }

  /// Channel and length of each part, with a dash after one that is not the last.
  private func parts(_ outcome: Outcome) -> [String] {
    outcome.frames.compactMap { frame in
      switch frame {
      case .message(let bytes): "0: \(bytes.count)"
      case .fragment(let bytes): "0: \(bytes.count)-"
      case .channelMessage(let channel, let bytes): "\(channel): \(bytes.count)"
      case .channelFragment(let channel, let bytes): "\(channel): \(bytes.count)-"
      default: nil
      }
    }
  }

  private func credits(_ outcome: Outcome) -> [MessageChannel: UInt64] {
    var credits: [MessageChannel: UInt64] = [:]
    for case .channelCredit(let channel, let limit) in outcome.frames { credits[channel] = limit }
    return credits
  }

  private func delivered(_ outcome: Outcome) -> [String] {
    outcome.effects.compactMap { effect in
      guard case .deliver(.messagesReceived(_, let messages, .reliable, let channel)) = effect else { return nil }
      return "\(channel): \(messages.map(\.count))"
    }
  }

  // MARK: Out

  @Test("short messages of other channels go between the parts of a long one, each channel in its turn")
  func interleaving() {
    let one = one { $0.frameLimit = 1_024 }
    let outcome = one.side.take([
      queue(3_000, in: 1, one), queue(10, in: 2, one), queue(20, in: 2, one), queue(30, in: 0, one),
    ])
    #expect(
      parts(outcome) == ["1: 1023-", "2: 10", "0: 30", "1: 1023-", "2: 20", "1: 954"], "a part has its channel's number"
    )
    let taken = outcome.effects.filter { if case .messagesTaken = $0 { true } else { false } }
    #expect(taken.count == 3)
  }

  @Test("of three priorities the higher goes first, whatever was queued first")
  func priorities() {
    let one = one { $0.channelPriorities = [1: .low, 3: .high] }
    let outcome = one.side.take([
      queue(1, in: 1, one), queue(2, in: 0, one), queue(3, in: 3, one), queue(4, in: 1, one), queue(5, in: 3, one),
    ])
    #expect(parts(outcome) == ["3: 3", "3: 5", "0: 2", "1: 1", "1: 4"])
  }

  @Test("a channel without credit holds up no other, and goes on with its credit")
  func credit() {
    let one = one(window: 1_024)
    let outcome = one.side.take([queue(400, in: 1, one), queue(401, in: 1, one), queue(402, in: 1, one)])
    #expect(parts(outcome) == ["1: 400", "1: 401"])
    #expect(parts(one.side.take(queue(403, in: 2, one))) == ["2: 403"])
    #expect(parts(one.receive(.channelCredit(2, limit: 5_000))) == [])
    #expect(parts(one.receive(.channelCredit(1, limit: 2_048))) == ["1: 402"])
  }

  @Test("a message longer than the window goes in parts of half a window at most")
  func partsOfHalfAWindow() {
    let one = one(window: 2_000)
    #expect(parts(one.side.take(queue(5_000, in: 9, one))) == ["9: 1000-", "9: 1000-"])
    #expect(parts(one.receive(.channelCredit(9, limit: 3_000))) == ["9: 1000-"])
    #expect(parts(one.receive(.channelCredit(9, limit: 5_000))) == ["9: 1000-"])
    #expect(parts(one.receive(.channelCredit(9, limit: 6_000))) == ["9: 1000"])
  }

  @Test("long messages, and those of low priority, go as bulk does; short ones do not wait for it")
  func bulk() {
    let one = one { $0.channelPriorities = [5: .low] }
    one.side.takesAll = false
    one.side.take(.linkPaced(one.link, BulkPace(room: 0, bound: 8_000)))
    let outcome = one.side.take([queue(50_000, in: 1, one), queue(10, in: 5, one), queue(1_000, in: 2, one)])
    #expect(parts(outcome) == ["2: 1000"])
    let more = one.side.take(.linkPaced(one.link, BulkPace(room: 6_000, bound: 8_000)))
    #expect(parts(more) == ["1: 1999-", "1: 1999-", "5: 10"])
  }

  @Test("channels that the remote side does not take are not sent in")
  func tooMany() {
    let one = OneSided().connected { $0.limits.channels = 3 }
    #expect(parts(one.side.take(queue(5, in: 2, one))) == ["2: 5"])
    let outcome = one.side.take(queue(5, in: 3, one))
    #expect(parts(outcome) == [])
    #expect(outcome.effects == [.messagesTaken(one.far, byteCount: 5 + WireLimits.messageCost, in: 3)])
  }

  @Test("a goodbye goes behind the messages of all channels")
  func goodbye() {
    let one = one(window: 1_024)
    one.side.take(queue(700, in: 1, one), queue(600, in: 1, one))
    #expect(!one.side.command(.leave(one.far, .left)).frames.contains { $0.type == FrameType.leave })
    let outcome = one.receive(.channelCredit(1, limit: 4_000))
    #expect(
      outcome.frames.map(\.type) == [FrameType.channelFragment, FrameType.channelMessage, FrameType.leave])
  }

  // MARK: In

  @Test("messages of several channels that come at once are delivered in their order, each with its channel")
  func delivery() {
    let one = one()
    let outcome = one.receive(
      .channelFragment(1, bytes(5)), .message(bytes(1)), .channelMessage(2, bytes(2)), .channelMessage(2, bytes(3)),
      .channelMessage(1, bytes(4)))
    #expect(delivered(outcome) == ["0: [1]", "2: [2, 3]", "1: [9]"])
  }

  @Test("parts of a message that is not complete count as taken, so that a window may be smaller than it")
  func partsCount() {
    let one = one { $0.channelWindow = 1_024 }
    var granted: UInt64 = 1_024
    for part in 1...95 {
      let told = credits(one.receive(.channelFragment(7, bytes(500))))[7]
      granted = told ?? granted
      #expect(granted >= UInt64(500 * part + 768), "a quarter of the window may be unreported")
    }
    #expect(delivered(one.receive(.channelMessage(7, bytes(1)))) == ["7: [47501]"])
    // Whole messages wait for the application.
    for _ in 0..<5 { #expect(credits(one.receive(.channelMessage(7, bytes(100)))).isEmpty) }
    let cost = 48_001 + 6 * WireLimits.messageCost
    let more = one.side.take(.messagesConsumed(one.far, byteCount: cost, in: 7))
    #expect(credits(more)[7] == UInt64(cost + 1_024))
  }

  @Test("an unread channel stops only itself: the others get credit")
  func unread() {
    let one = one { $0.channelWindow = 2_000 }
    for _ in 0..<4 { one.receive(.channelMessage(1, bytes(400))) }
    for _ in 0..<50 {
      #expect(delivered(one.receive(.channelMessage(2, bytes(968)))) == ["2: [968]"])
      let outcome = one.side.take(.messagesConsumed(one.far, byteCount: 1_000, in: 2))
      #expect(credits(outcome).keys.contains(1) == false)
    }
    #expect(one.side.members == [one.far])
    one.receive(.channelMessage(1, bytes(400)))
    #expect(one.side.members == [], "more than the window")
  }

  @Test(
    "a message beyond the credit, above the limit, or in a channel that is not open ends the association",
    arguments: ["beyond", "above", "closed"])
  func breaches(_ kind: String) {
    let one = one {
      $0.messageLimit = 900
      $0.channelWindow = 1_024
      $0.channelLimit = 8
    }
    let outcome =
      switch kind {
      case "beyond": one.receive(.channelMessage(7, bytes(900)), .channelMessage(7, bytes(100)))
      case "above": one.receive(.channelFragment(7, bytes(451)), .channelFragment(7, bytes(451)))
      default: one.receive(.channelMessage(8, bytes(1)))
      }
    #expect(one.side.members == [])
    let reasons = outcome.effects.compactMap { effect in
      if case .deliver(.disconnected(_, let ending)) = effect { ending.reason } else { nil }
    }
    #expect(reasons == [.limitExceeded])
  }

  @Test("credit for a channel in which nothing was sent has no effect, and a later one begins with the hello's")
  func creditOfNothing() {
    let one = one(window: 1_024)
    #expect(one.receive(.channelCredit(5, limit: VariableInteger.max)).frames.isEmpty)
    #expect(parts(one.side.take(queue(900, in: 5, one), queue(900, in: 5, one))) == ["5: 512-", "5: 388"])
  }

  // MARK: Another link

  @Test("on another link what was not acknowledged is sent again, and the credit of each channel is told anew")
  func resume() {
    let one = one { $0.channelWindow = 4_000 }
    one.side.take(queue(10, in: 1, one), queue(20, in: 2, one))
    one.receive(.channelMessage(3, bytes(968)), .channelFragment(4, bytes(7)))
    one.side.take(.messagesConsumed(one.far, byteCount: 1_000, in: 3))
    one.side.take(.linkClosed(one.link, .failed(LinkFailure(.reset))))
    let link = LinkID(rawValue: 2)
    one.side.take(.linkOpened(link, one.opening()))
    var hello = Hello(incarnation: one.far.incarnation, name: "far", sessionID: "test", capabilities: .resume)
    hello.held = HeldAssociation(id: AssociationID(high: 1, low: 2), received: 1)
    var outcome = one.side.take(.received(link, FrameEncoder.encode(.hello(hello))[...]))
    outcome += one.side.take(
      .received(link, FrameEncoder.encode(.associate(AssociationID(high: 1, low: 2), received: 1))[...]))
    #expect(parts(outcome) == ["1: 10", "2: 20"])
    #expect(credits(outcome) == [3: 5_000, 4: 4_000])
  }
}
