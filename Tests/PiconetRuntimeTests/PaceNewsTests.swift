import PiconetEngine
import Testing

@testable import PiconetRuntime

@Suite("What the engine is told of a link's pace")
struct PaceNewsTests {
  @Test("each change of the room is told, to the last byte; the same is told once")
  func everyChange() {
    var news = PaceNews()
    for room in [4_000, 3_999, 100, 1, 0, 1, 4_000] {
      let pace = BulkPace(room: room, bound: 4_000)
      #expect(news.update(to: pace) == pace)
      #expect(news.update(to: pace) == nil)
    }
    #expect(news.update(to: BulkPace(room: 4_000, bound: 8_000)) == BulkPace(room: 4_000, bound: 8_000))
  }

  @Test("a pace above every window is told as the largest pace, once")
  func aboveEveryWindow() {
    var news = PaceNews()
    let fastest = BulkPace(room: PaceNews.fastest, bound: PaceNews.fastest)
    #expect(news.update(to: BulkPace(room: .max, bound: .max)) == fastest)
    #expect(news.update(to: BulkPace(room: 1 << 30, bound: .max)) == nil)
  }
}
