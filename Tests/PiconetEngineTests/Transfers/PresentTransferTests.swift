import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("What a receiver has already")
struct PresentTransferTests {
  private let ours = TransferID(rawValue: 5)
  private let theirs = TransferID(rawValue: TransferID.firstIncoming)
  private static let size: UInt64 = 100_000

  /// We have offered transfer 0, and the remote side claims to have all of it; our digest is stated.
  private func claimed() -> OneSided {
    let one = OneSided().connected()
    one.side.answersDisk = false
    one.side.command(.offer(ours, to: one.far, ResourceOffer(name: [1], size: Self.size)), id: 5)
    let outcome = one.receive(.acceptOffer(transfer: 0, offset: Self.size, limit: Self.size))
    #expect(outcome.effects.contains(.finishSource(ours)))
    #expect(one.side.take(.sourceFinished(ours, someDigest)).frames == [.end(transfer: 0, size: Self.size, someDigest)])
    return one
  }

  /// The remote side has offered transfer 0; we claim to have all of it, and its digest has come.
  private func claiming() -> OneSided {
    let one = OneSided().connected()
    one.side.answersDisk = false
    one.receive(.offer(transfer: 0, ResourceOffer(name: [1], size: Self.size)))
    one.side.command(.acceptOffer(theirs, offset: Self.size))
    one.receive(.end(transfer: 0, size: Self.size, someDigest))
    return one
  }

  @Test("the same content is told as present, and both sides know it")
  func present() {
    let sender = claimed()
    #expect(
      sender.receive(.present(transfer: 0, name: [7])).replies(to: 5) == [.stored(name: [7], wasAlreadyPresent: true)])
    #expect(sender.side.census.transfersOutgoing == 0)
    let receiver = claiming()
    let outcome = receiver.side.take(.committed(theirs, name: [7], wasAlreadyPresent: true))
    #expect(outcome.frames == [.present(transfer: 0, name: [7])])
    #expect(outcome.events == [.transferEnded(theirs, nil)])
  }

  @Test("other content begins the transfer anew, within the window, and is stored as any other")
  func restarted() {
    let receiver = claiming()
    let outcome = receiver.side.take(.storeRestarted(theirs, offset: 10))
    #expect(outcome.frames == [.restart(transfer: 0, offset: 10, limit: Self.size)])
    #expect(receiver.receive(.chunk(transfer: 0, bytes(10_000))).effects == [.storeChunk(theirs, bytes(10_000))])
    let sender = claimed()
    let again = sender.receive(.restart(transfer: 0, offset: 10, limit: Self.size))
    #expect(again.events == [.transferAccepted(ours, offset: 10)])
    #expect(
      again.effects.contains { if case .readChunks(ours, _, 10, _, _) = $0 { true } else { false } },
      "\(again.effects)")
  }

  @Test("a file that the sender gives up while it is compared is refused, not begun anew, and is over on both sides")
  func abandoned() {
    let receiver = claiming()
    #expect(receiver.receive(.abandon(transfer: 0, .cancelled, detail: "")).frames == [])
    let outcome = receiver.side.take(.storeRestarted(theirs, offset: 10))
    #expect(outcome.frames == [.refuse(transfer: 0, .cancelled, detail: "")])
    #expect(outcome.events == [.transferEnded(theirs, Ending(.cancelled, .peer))])
    #expect(receiver.side.census.transfersIncoming == 0)
    let sender = claimed()
    #expect(
      sender.side.command(.cancelTransfer(ours, .cancelled)).frames == [.abandon(transfer: 0, .cancelled, detail: "")])
    sender.receive(.refuse(transfer: 0, .cancelled, detail: ""))
    #expect(sender.side.census.transfersOutgoing == 0)
  }

  @Test("a receiver restarts once, and not what it did not claim to have")
  func restartRules() {
    let twice = claimed()
    twice.receive(.restart(transfer: 0, offset: Self.size, limit: Self.size))
    twice.side.take(.sourceFinished(ours, someDigest))
    #expect(twice.receive(.restart(transfer: 0, offset: 0, limit: 1)).closeReason == .protocolBroken)

    let early = OneSided().connected()
    early.side.answersDisk = false
    early.side.command(.offer(ours, to: early.far, ResourceOffer(name: [1], size: Self.size)), id: 5)
    #expect(early.receive(.restart(transfer: 0, offset: 0, limit: 1)).closeReason == .protocolBroken)

    let beyond = claimed()
    #expect(
      beyond.receive(.restart(transfer: 0, offset: Self.size + 1, limit: Self.size + 1)).closeReason == .protocolBroken)
    let unknown = claimed()
    #expect(unknown.receive(.restart(transfer: 9, offset: 0, limit: 1)).closeReason == .protocolBroken)
    // A second restart of our own store is ignored.
    let store = claiming()
    store.side.take(.storeRestarted(theirs, offset: 0))
    #expect(store.side.take(.storeRestarted(theirs, offset: 0)).frames == [])
  }

  @Test("a transfer that is let rest after its end, or while it is committed, rests when it begins anew")
  func paused() {
    let sender = claimed()
    #expect(sender.side.command(.pauseTransfer(ours, true)).frames == [.senderPaused(transfer: 0, true)])
    let outcome = sender.receive(.restart(transfer: 0, offset: 0, limit: Self.size))
    #expect(!outcome.effects.contains { if case .readChunks = $0 { true } else { false } })
    let on = sender.side.command(.pauseTransfer(ours, false))
    #expect(on.effects.contains { if case .readChunks(ours, _, 0, _, _) = $0 { true } else { false } })

    let receiver = claiming()
    #expect(receiver.side.command(.pauseTransfer(theirs, true)).frames == [.receiverPaused(transfer: 0, true)])
    #expect(
      receiver.side.take(.storeRestarted(theirs, offset: 10)).frames == [.restart(transfer: 0, offset: 10, limit: 10)])
    #expect(
      receiver.side.command(.pauseTransfer(theirs, false)).frames
        == [.receiverPaused(transfer: 0, false), .transferCredit(transfer: 0, stored: 10, limit: Self.size)])
  }

  @Test("what a receiver compares is told before its answer, only as far as it goes on, and not afterwards")
  func comparing() {
    let one = OneSided().connected()
    one.side.answersDisk = false
    one.side.command(.offer(ours, to: one.far, ResourceOffer(name: [1], size: Self.size)), id: 5)
    #expect(
      one.receive(.comparing(transfer: 0, compared: 10)).events == [.transferCompared(ours, byteCount: 10)])
    #expect(one.receive(.comparing(transfer: 0, compared: 10)).events == [])
    #expect(one.receive(.comparing(transfer: 77, compared: 10)).closeReason == nil)
    one.receive(.acceptOffer(transfer: 0, offset: Self.size, limit: Self.size))
    #expect(one.receive(.comparing(transfer: 0, compared: 20)).events == [])

    let far = OneSided().connected()
    far.receive(.offer(transfer: 0, ResourceOffer(name: [1], size: Self.size)))
    #expect(
      far.side.command(.tellCompared(theirs, byteCount: 30)).frames == [.comparing(transfer: 0, compared: 30)])
    far.side.command(.acceptOffer(theirs, offset: Self.size))
    #expect(far.side.command(.tellCompared(theirs, byteCount: 40)).frames == [])
  }

  @Test("a receiver that compares more than was offered breaks the protocol")
  func comparesTooMuch() {
    let one = OneSided().connected()
    one.side.command(.offer(ours, to: one.far, ResourceOffer(name: [1], size: Self.size)), id: 5)
    #expect(one.receive(.comparing(transfer: 0, compared: Self.size + 1)).closeReason == .protocolBroken)
  }
}
