import PiconetEngine
import Testing

@testable import Piconet

@Suite("Bytes of a stream that wait for their reader")
struct StreamPiecesTests {
  @Test("they come out as they went in, whatever the sizes of both", arguments: 0..<20)
  func sameBytes(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var pieces = StreamPieces()
    var (written, read): (Int, Int) = (0, 0)
    let end = 200_000
    while read < end {
      if written < end, random.next() & 3 != 0 {
        let count = min(end - written, Int(random.next() % (random.next() & 1 == 0 ? 50 : 20_000)))
        pieces.append((written..<(written + count)).map { UInt8(truncatingIfNeeded: $0 &* 7) }[...])
        written += count
      } else {
        let limit = random.next() & 7 == 0 ? Int.max : 1 + Int(random.next() % 30_000)
        let taken = pieces.take(upTo: limit)
        #expect(taken.count == min(limit, written - read))
        #expect(taken.elementsEqual((read..<(read + taken.count)).lazy.map { UInt8(truncatingIfNeeded: $0 &* 7) }))
        read += taken.count
      }
      #expect(pieces.count == written - read && pieces.isEmpty == (written == read))
    }
  }

  @Test("pieces are taken one by one, or what is left of them together")
  func piecewise() {
    var pieces = StreamPieces()
    pieces.append([UInt8](repeating: 1, count: 16_000)[...])
    pieces.append([UInt8](repeating: 2, count: 16_000)[...])
    #expect(pieces.takePiece() == [UInt8](repeating: 1, count: 16_000)[...])
    #expect(pieces.take(upTo: .max) == [UInt8](repeating: 2, count: 16_000)[...])
    #expect(pieces.take(upTo: .max).isEmpty && pieces.takePiece().isEmpty)
  }
}
