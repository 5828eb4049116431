import PiconetWire
import Testing

@testable import PiconetEngine

@Suite("Chunks that are sent again")
struct RepeatedChunkTests {
  private let theirs = TransferID(rawValue: TransferID.firstIncoming)

  @Test("bytes that are here and come again are not stored again, but told, as often as they come")
  func told() throws {
    let one = OneSided().connected { $0.capabilities = .resume }
    one.receive(.offer(transfer: 0, ResourceOffer(name: [1], size: 100)))
    one.side.command(.acceptOffer(theirs, offset: 0))
    one.receive(.chunk(transfer: 0, bytes(60)))
    one.side.take(.linkClosed(one.link, .failed(LinkFailure(.reset))))
    let association = try #require(one.side.engine.associations[one.far])
    let link = LinkID(rawValue: 2)
    one.side.take(.linkOpened(link, one.opening()))
    func receive(_ frames: Frame...) -> [Effect] {
      one.side.take(.received(link, frames.flatMap { FrameEncoder.encode($0) }[...])).effects.filter {
        if case .transmit = $0 { false } else { true }
      }
    }
    let received = association.sequenced.sent
    let hello = one.hello {
      $0.capabilities = .resume
      $0.held = HeldAssociation(id: association.id, received: received)
    }
    _ = receive(hello, .associate(association.id, received: received))
    one.side.answersDisk = false
    for _ in 0..<2 {
      #expect(receive(.position(transfer: 0, offset: 20)) == [])
      #expect(receive(.chunk(transfer: 0, bytes(30))) == [.chunkRepeated(theirs, byteCount: 30)])
    }
    let both: [Effect] = [.chunkRepeated(theirs, byteCount: 10), .storeChunk(theirs, bytes(20))]
    #expect(receive(.chunk(transfer: 0, bytes(30))) == both)
    #expect(receive(.chunk(transfer: 0, bytes(20))) == [.storeChunk(theirs, bytes(20))])
    one.side.answersDisk = true
    #expect(receive(.end(transfer: 0, size: 100, someDigest)).contains(.deliver(.transferEnded(theirs, nil))))
  }
}
