import PiconetWire
import Testing

@testable import PiconetEngine

/// Shows each row of the table "What bounds each frame" in Documentation/wire-format.md by a flood of that frame
/// without an acknowledgement.
@Suite("A flood of one type of frame")
struct FloodTests {
  private static let types = FrameType.all.map(\.type) + [0xA3, 0xFF]

  @Test("from a member costs no more than a member may, whether it reads or not", arguments: types, [true, false])
  func member(type: UInt8, reads: Bool) {
    let flood = Flood(isMember: true, reads: reads)
    flood.run(type, rounds: 100)
    #expect(flood.most <= flood.bound, "0x\(String(type, radix: 16)): \(flood.most) bytes")
  }

  @Test("from a stranger costs no more than a stranger may, whether it reads or not", arguments: types, [true, false])
  func stranger(type: UInt8, reads: Bool) {
    let flood = Flood(isMember: false, reads: reads)
    flood.run(type, rounds: 100)
    #expect(flood.most <= flood.bound, "0x\(String(type, radix: 16)): \(flood.most) bytes")
    // Of the frames that need no membership, those that provoke no answer and are not kept go on.
    let goesOn: Set<UInt8> = [
      FrameType.pong, FrameType.acknowledge, FrameType.messageCredit, FrameType.channelCredit, FrameType.comparing,
      FrameType.listening, 0xA3,
    ]
    if flood.isOver {
      #expect(flood.reason == nil || [.protocolBroken, .limitExceeded].contains(flood.reason))
    } else {
      #expect(goesOn.contains(type) || (type == FrameType.ping && reads), "0x\(String(type, radix: 16))")
    }
  }

  // A leak of a few bytes a frame is far below what a peer may make an engine hold: it shows in what more frames add.
  @Test("holds no more after three times as many frames, or ends", arguments: types, [true, false])
  func levels(type: UInt8, reads: Bool) {
    for isMember in [true, false] {
      let flood = Flood(isMember: isMember, reads: reads)
      flood.run(type, rounds: 50)
      var more = flood.grows(type, rounds: 100)
      if more > 5_000 {
        // It may be on its way to a limit.
        flood.run(type, rounds: 1_000)
        more = flood.grows(type, rounds: 100)
      }
      #expect(
        more <= 5_000 || flood.reason == .limitExceeded,
        "0x\(String(type, radix: 16)), member \(isMember): \(more) bytes for 5,000 frames, and it goes on")
    }
  }

  @Test(
    "that provokes answers ends with limitExceeded, and nothing is held any more",
    arguments: [
      FrameType.offer, FrameType.abandon, FrameType.endStream, FrameType.resetStream, FrameType.removeMember,
      FrameType.removed, FrameType.askToIntroduce,
    ],
    [true, false])
  func provoking(type: UInt8, reads: Bool) {
    for isFull in [false, true] { provoking(type, reads, isFull: isFull) }
  }

  private func provoking(_ type: UInt8, _ reads: Bool, isFull: Bool) {
    let flood = Flood(isMember: true, reads: true)
    if isFull { flood.fill() }
    flood.one.side.takesAll = reads
    flood.run(type, rounds: 50)
    #expect(flood.most <= flood.bound, "\(flood.most) bytes")
    #expect(flood.isOver)
    #expect(flood.reason == .limitExceeded)
    #expect(flood.one.side.census.retainedBytes == 0)
  }

  /// What has credit, which is for bytes, and what answers us.
  private static let bounded: Set<UInt8> = [
    FrameType.message, FrameType.fragment, FrameType.channelMessage, FrameType.channelFragment, FrameType.streamData,
    FrameType.tunnelData,
    FrameType.acceptOffer, FrameType.declineOffer, FrameType.stored, FrameType.present, FrameType.restart,
    FrameType.refuse, FrameType.stopStream, FrameType.streamDone,
  ]

  @Test(
    "of a sequenced frame ends, whatever the type, but for those with credit and for answers to what we have begun",
    arguments: types.filter { FrameType.isSequenced($0) && !bounded.contains($0) }, [true, false])
  func sequenced(type: UInt8, isMember: Bool) {
    let flood = Flood(isMember: isMember, reads: true)
    flood.run(type, rounds: 200)
    #expect(flood.isOver, "0x\(String(type, radix: 16)) goes on")
  }

  @Test(
    "of answers to what we offer and open is bounded by what goes of our own accord, and ends nothing",
    arguments: [
      FrameType.acceptOffer, FrameType.declineOffer, FrameType.refuse, FrameType.stopStream, FrameType.streamCredit,
    ])
  func answering(type: UInt8) {
    let flood = Flood(isMember: true, reads: true)
    flood.run(type, rounds: 200)
    flood.fill()
    flood.run(type, rounds: 100)
    #expect(flood.most <= flood.bound, "\(flood.most) bytes")
    #expect(!flood.isOver, "\(flood.reason.map { "\($0)" } ?? "")")
  }

  @Test("to a peer that comes back and reads nothing ends, and nothing is held any more")
  func closedWindow() {
    let flood = Flood(isMember: true, reads: true)
    flood.fill()
    let kept = flood.one.side.census.retainedBytes
    flood.resume(received: 1)
    #expect(flood.one.side.census.retainedBytes >= kept)
    flood.run(FrameType.resetStream, rounds: 1_000)
    #expect(flood.most <= flood.bound, "\(flood.most) bytes")
    #expect(flood.reason == .limitExceeded)
    #expect(flood.one.side.census.retainedBytes == 0)
  }

  @Test(
    "of pings, by a peer that reads nothing, leaves the driver with no more than may wait", arguments: [true, false])
  func unreadPongs(isMember: Bool) {
    let flood = Flood(isMember: isMember, reads: false)
    let pings = Array(repeatElement(FrameEncoder.encode(.ping(VariableInteger.max)), count: 800).joined())
    var handedOver = 0
    for _ in 0..<60 where !flood.isOver {
      for effect in flood.one.side.take(.received(flood.one.link, pings[...])).effects {
        if case .transmit(_, let bytes) = effect { handedOver += bytes.count }
      }
    }
    #expect(flood.isOver)
    #expect(flood.one.side.log.closeReason == .limitExceeded)
    let mayWait = isMember ? Link.controlLimit : KeepingLimits.strangerControl
    #expect(handedOver <= flood.configuration.transmitWindow + mayWait, "\(handedOver) bytes")
  }

  @Test("of invitations that are withdrawn, by a stranger who acknowledges nothing, is over after 256 answers")
  func invitations() {
    let flood = Flood(isMember: false, reads: true)
    flood.run(FrameType.invite, rounds: 5)
    #expect(!flood.isOver)
    flood.run(FrameType.invite, rounds: 1)
    #expect(flood.reason == .limitExceeded)
    #expect(flood.most < 10_000, "\(flood.most) bytes")
  }

  @Test("of invitations that are withdrawn, by a stranger who acknowledges, goes on, and holds nothing")
  func acknowledged() {
    let flood = Flood(isMember: false, reads: true)
    for round in 1...40 {
      flood.run(FrameType.invite, rounds: 1)
      flood.receive(.acknowledge(received: UInt64(50 * round)))
    }
    #expect(!flood.isOver)
    #expect(flood.most < 10_000, "\(flood.most) bytes")
  }

  @Test("of padding does not stay alive by a message or a chunk of one byte between it")
  func padding() throws {
    let flood = Flood(isMember: true, reads: true)
    flood.receive(.offer(transfer: 1, ResourceOffer(name: [1], size: 100)))
    let transfer = TransferID(rawValue: TransferID.firstIncoming)
    flood.one.side.command(.acceptOffer(transfer, offset: 0))
    let pad = [UInt8](repeating: 0xA3, count: 1) + [0x44, 0x00] + [UInt8](repeating: 0, count: 1_024)
    for frame in [Frame.message(bytes(1)), .chunk(transfer: 1, bytes(1))] {
      let read = pad + pad + FrameEncoder.encode(frame)
      let outcome = flood.one.side.take(.received(flood.one.link, read[...]))
      let kept = outcome.effects.compactMap { effect -> Bytes? in
        switch effect {
        case .deliver(.messagesReceived(_, let messages, _, _)): messages.first
        case .storeChunk(_, let bytes): bytes
        default: nil
        }
      }
      // A slice of a larger buffer would not begin at 0.
      #expect(kept.map(\.startIndex) == [0], "\(frame)")
    }
  }

  @Test("what is a large part of what was read is not copied")
  func nothingIsCopied() throws {
    let flood = Flood(isMember: true, reads: true)
    let outcome = flood.receive(.pong(1), .message(bytes(900)), .message(bytes(900)))
    guard case .deliver(.messagesReceived(_, let messages, _, _))? = outcome.effects.first else {
      Issue.record("no message")
      return
    }
    #expect(messages.map(\.startIndex) == [6, 909])
  }
}
