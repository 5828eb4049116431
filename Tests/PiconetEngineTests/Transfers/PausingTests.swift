import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Pausing a transfer")
struct PausingTests {
  private let ours = TransferID(rawValue: 5)
  private let theirs = TransferID(rawValue: TransferID.firstIncoming)

  private func sending(size: UInt64 = 100_000) -> OneSided {
    let one = OneSided(configuration { $0.readSize = $0.frameLimit }).connected()
    one.side.command(.offer(ours, to: one.far, ResourceOffer(name: [1], size: size)), id: 5)
    return one
  }

  private func chunks(_ outcome: Outcome) -> Int {
    outcome.frames.count { if case .chunk = $0 { true } else { false } }
  }

  @Test("a paused sender sends neither chunk nor end, and then the rest of both")
  func sender() {
    let one = sending()
    #expect(one.side.command(.pauseTransfer(ours, true)).frames == [.senderPaused(transfer: 0, true)])
    #expect(one.receive(.acceptOffer(transfer: 0, offset: 0, limit: 100_000)).frames == [])
    let outcome = one.side.command(.pauseTransfer(ours, false))
    #expect(outcome.frames.first == .senderPaused(transfer: 0, false))
    #expect(chunks(outcome) == 7)
    #expect(outcome.frames.last == .end(transfer: 0, size: 100_000, someDigest))
  }

  @Test("bytes that were read before the pause are kept and sent afterwards, once")
  func middle() {
    let one = sending()
    one.side.answersDisk = false
    one.receive(.acceptOffer(transfer: 0, offset: 0, limit: 100_000))
    one.side.command(.pauseTransfer(ours, true))
    var read = 0
    while let effect = one.side.takeUnanswered(), let fact = one.side.fact(answering: effect) {
      read += 1
      #expect(one.side.take(fact).frames == [])
    }
    #expect(read == TransferSender.readAhead)
    one.side.answersDisk = true
    let outcome = one.side.command(.pauseTransfer(ours, false))
    #expect(chunks(outcome) == 7)
    #expect(outcome.frames.last == .end(transfer: 0, size: 100_000, someDigest))
  }

  @Test("paused when all of it is out, it rests if the link is lost and has to be sent again")
  func pausedAfterTheEnd() throws {
    let one = OneSided().connected { $0.capabilities = .resume }
    one.side.command(.offer(ours, to: one.far, ResourceOffer(name: [1], size: 10)), id: 5)
    #expect(chunks(one.receive(.acceptOffer(transfer: 0, offset: 0, limit: 10))) == 1)
    #expect(one.side.command(.pauseTransfer(ours, true)).frames == [])
    one.side.take(.linkClosed(one.link, .failed(LinkFailure(.reset))))
    let association = try #require(one.side.engine.associations[one.far])
    let link = LinkID(rawValue: 2)
    one.side.take(.linkOpened(link, one.opening()))
    func receive(_ frames: Frame...) -> Outcome {
      one.side.take(.received(link, frames.flatMap { FrameEncoder.encode($0) }[...]))
    }
    let received = association.sequenced.sent
    let hello = one.hello {
      $0.capabilities = .resume
      $0.held = HeldAssociation(id: association.id, received: received)
    }
    _ = receive(hello, .associate(association.id, received: received))
    let frames = receive(.transferCredit(transfer: 0, stored: 0, limit: 10)).frames
    #expect(frames == [.senderPaused(transfer: 0, true), .position(transfer: 0, offset: 0)])
    let outcome = one.side.command(.pauseTransfer(ours, false))
    #expect(outcome.frames.first == .senderPaused(transfer: 0, false) && chunks(outcome) == 1)
    #expect(outcome.frames.last == .end(transfer: 0, size: 10, someDigest))
  }

  @Test("an offer that waits for its turn is told as paused when it goes")
  func waiting() {
    let one = OneSided().connected { $0.limits.transfers = 1 }
    one.side.command(.offer(TransferID(rawValue: 4), to: one.far, ResourceOffer(name: [1], size: 1)), id: 4)
    let second = ResourceOffer(name: [2], size: 1)
    one.side.command(.offer(ours, to: one.far, second), id: 5)
    #expect(one.side.command(.pauseTransfer(ours, true)).frames == [])
    let outcome = one.receive(.declineOffer(transfer: 0, .notWanted, detail: ""))
    #expect(outcome.frames == [.offer(transfer: 0, second), .senderPaused(transfer: 0, true)])
  }

  private func receiving(pausedFirst: Bool) -> OneSided {
    let one = OneSided(
      configuration {
        $0.transferWindow = 40_000
        $0.smallestTransferWindow = 40_000
      }
    ).connected()
    one.receive(.offer(transfer: 3, ResourceOffer(name: [1], size: 100_000)))
    if pausedFirst { one.side.command(.pauseTransfer(theirs, true)) }
    one.side.command(.acceptOffer(theirs, offset: 0))
    return one
  }

  @Test("a paused receiver gives no more credit, and as much as it has room for afterwards")
  func receiver() {
    let one = receiving(pausedFirst: false)
    #expect(one.side.command(.pauseTransfer(theirs, true)).frames == [.receiverPaused(transfer: 3, true)])
    for _ in 0..<4 { #expect(one.receive(.chunk(transfer: 3, bytes(10_000))).frames == []) }
    #expect(
      one.side.command(.pauseTransfer(theirs, false)).frames
        == [.receiverPaused(transfer: 3, false), .transferCredit(transfer: 3, stored: 40_000, limit: 80_000)])
  }

  @Test("an offer that is accepted while it is paused gets no credit before it goes on")
  func acceptedPaused() {
    let one = receiving(pausedFirst: true)
    #expect(one.side.log.frames.last == .acceptOffer(transfer: 3, offset: 0, limit: 0))
    #expect(
      one.side.command(.pauseTransfer(theirs, false)).frames
        == [.receiverPaused(transfer: 3, false), .transferCredit(transfer: 3, stored: 0, limit: 40_000)])
  }

  @Test("whatever a paused receiver gets may be the last of its credit: it still goes on", arguments: 0...40)
  func noDeadlock(thousands: UInt64) {
    let one = receiving(pausedFirst: false)
    one.side.command(.pauseTransfer(theirs, true))
    for _ in 0..<thousands { one.receive(.chunk(transfer: 3, bytes(1_000))) }
    one.side.command(.pauseTransfer(theirs, false))
    for _ in thousands..<100 {
      if one.receive(.chunk(transfer: 3, bytes(1_000))).closeReason != nil { break }
    }
    #expect(one.side.storedCounts[theirs] == 100_000)
  }

  @Test("each side has its own switch, and is told of the other's, each change once")
  func hints() {
    let one = sending()
    #expect(one.receive(.receiverPaused(transfer: 0, true)).events == [.transferPaused(ours, true)])
    #expect(one.receive(.receiverPaused(transfer: 0, true)).events == [])
    #expect(one.receive(.receiverPaused(transfer: 0, false)).events == [.transferPaused(ours, false)])
    one.receive(.offer(transfer: 0, ResourceOffer(name: [1], size: 10)))
    #expect(one.receive(.senderPaused(transfer: 0, true)).events == [.transferPaused(theirs, true)])
    // The remote side's hint does not stop us.
    one.receive(.receiverPaused(transfer: 0, true))
    #expect(chunks(one.receive(.acceptOffer(transfer: 0, offset: 0, limit: 100_000))) == 7)
  }

  @Test("a hint about a transfer that is over, or never was, has no effect")
  func lateHints() {
    let one = sending()
    #expect(one.receive(.receiverPaused(transfer: 77, true), .senderPaused(transfer: 0, true)).effects == [])
    one.side.command(.cancelTransfer(ours, .cancelled))
    #expect(one.receive(.receiverPaused(transfer: 0, true)).effects == [])
    #expect(one.side.census.members == 1)
  }

  @Test("pausing what is over, or is not known, is answered and says nothing")
  func nothingToPause() {
    let one = sending()
    one.side.command(.cancelTransfer(ours, .cancelled))
    #expect(one.side.command(.pauseTransfer(ours, true), id: 90).frames == [])
    #expect(one.side.command(.pauseTransfer(TransferID(rawValue: 1_000), true), id: 91).frames == [])
    #expect(one.side.log.replies(to: 90) == [.done])
    #expect(one.side.log.replies(to: 91) == [.done])
  }

  @Test("a paused transfer is cancelled like any other, from either side", arguments: [true, false])
  func cancelled(byUs: Bool) {
    let one = sending()
    one.receive(.acceptOffer(transfer: 0, offset: 0, limit: 0))
    one.side.command(.pauseTransfer(ours, true))
    if byUs {
      one.side.command(.cancelTransfer(ours, .cancelled))
      one.receive(.refuse(transfer: 0, .cancelled, detail: ""))
    } else {
      one.receive(.refuse(transfer: 0, .cancelled, detail: ""))
    }
    #expect(one.side.census.transfersOutgoing == 0)
    #expect(one.side.log.replies(to: 5).count == 1)
  }

  @Test("stored bytes are kept when a link or a process ends, and thrown away when the file was given up")
  func keeping() {
    func end(_ how: (OneSided) -> Outcome) -> [Effect] {
      how(receiving(pausedFirst: false)).effects.filter { $0 == .keepStore(theirs) || $0 == .discardStore(theirs) }
    }
    #expect(end { $0.side.take(.linkClosed($0.link, .ended)) } == [.keepStore(theirs)])
    #expect(end { $0.side.wait(.seconds(40)) } == [.keepStore(theirs)])
    #expect(end { $0.receive(.abandon(transfer: 3, .cancelled, detail: "")) } == [.discardStore(theirs)])
    #expect(end { $0.receive(.leave(.left, detail: "")) } == [.discardStore(theirs)])
    #expect(end { $0.side.command(.cancelTransfer(theirs, .cancelled)) } == [.discardStore(theirs)])
    // The end of a process gives nothing up, on either side.
    #expect(end { $0.side.command(.shutDown) } == [.keepStore(theirs)])
    #expect(end { $0.side.command(.cancelTransfer(theirs, .shuttingDown)) } == [.keepStore(theirs)])
    #expect(end { $0.receive(.abandon(transfer: 3, .shuttingDown, detail: "")) } == [.keepStore(theirs)])
    #expect(end { $0.receive(.leave(.shuttingDown, detail: "")) } == [.keepStore(theirs)])
    #expect(end { $0.side.take(.storeFailed(theirs, .diskFull, detail: "")) } == [.discardStore(theirs)])
    #expect(end { $0.receive(.chunk(transfer: 9, bytes(1))) } == [.discardStore(theirs)])
  }
}
