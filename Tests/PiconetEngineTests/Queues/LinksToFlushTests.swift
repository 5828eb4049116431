import Testing

@testable import PiconetEngine

@Suite("Links to flush")
struct LinksToFlushTests {
  @Test("they are those that were inserted and not removed, in order", arguments: 0..<8 as Range<UInt64>)
  func sameAsASet(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var links = LinksToFlush()
    var model: Set<LinkID> = []
    for step in 0..<4_000 {
      let link = LinkID(rawValue: UInt64.random(in: 0..<5, using: &random))
      switch Int.random(in: 0..<8, using: &random) {
      case 0..<4:
        links.insert(link)
        model.insert(link)
      case 4..<6:
        links.remove(link)
        model.remove(link)
      case 6:
        let only = links.takeOnly()
        #expect(only == (model.count == 1 ? model.first : nil))
        if only != nil { model = [] }
      default:
        #expect(links.takeAll() == model.sorted())
        model = []
      }
      guard links.isEmpty == model.isEmpty else {
        Issue.record("differs from a set after step \(step)")
        return
      }
    }
  }
}
