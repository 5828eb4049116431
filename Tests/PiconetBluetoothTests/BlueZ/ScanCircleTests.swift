import PiconetBlueZ
import PiconetEngine
import Testing

@testable import PiconetBluetooth

@Suite("Nodes of one process agree on when they scan and pause")
struct ScanCircleTests {
  private final class Node: ScanMember {
    var log: [String] = []
    func siblingScans(_ window: ScanWindow) { log.append("sibling until \(window.until.nanoseconds)") }
    func setPauseWanted(_ isWanted: Bool) { log.append(isWanted ? "pause" : "go on") }
    func setPaused(_ isPaused: Bool) { log.append(isPaused ? "paused" : "not paused") }

    func take() -> [String] {
      defer { log = [] }
      return log
    }
  }

  private let circle = ScanCircle()
  private let nodes = [Node(), Node(), Node()]

  private func id(_ index: Int) -> ObjectIdentifier { ObjectIdentifier(nodes[index]) }

  @Test("a scan of one is told to the others, and not to itself")
  func scans() {
    for node in nodes { circle.join(node) }
    circle.scans(ScanWindow(since: Instant(nanoseconds: 1), until: Instant(nanoseconds: 9)), for: id(1))
    #expect(nodes.map { $0.take() } == [["sibling until 9"], [], ["sibling until 9"]])
  }

  @Test("a pause that one wants is wanted of all, begins when all have paused, and ends with the last who wants it")
  func pauses() {
    circle.join(nodes[0])
    circle.join(nodes[1])
    circle.wantsPause(true, for: id(0))
    circle.wantsPause(true, for: id(1))
    #expect(nodes[0].take() == ["pause"] && nodes[1].take() == ["pause"])
    circle.paused(true, for: id(1))
    #expect(nodes[0].take().last == "not paused")
    circle.paused(true, for: id(0))
    #expect(nodes[0].take().last == "paused" && nodes[1].take().last == "paused")
    circle.wantsPause(false, for: id(0))
    #expect(nodes[1].take().isEmpty)
    circle.wantsPause(false, for: id(1))
    #expect(nodes[0].take() == ["go on"] && nodes[1].take() == ["go on"])
  }

  @Test("a node that joins while a pause is wanted is told so; one that leaves delays no pause and wants none")
  func comingAndGoing() {
    circle.join(nodes[0])
    circle.join(nodes[1])
    circle.wantsPause(true, for: id(1))
    circle.paused(true, for: id(0))
    circle.join(nodes[2])
    #expect(nodes[2].take() == ["pause"])
    circle.paused(true, for: id(1))
    #expect(nodes[0].take().last == "not paused", "one of three scans still")
    circle.leave(id(2))
    #expect(nodes[0].take().last == "paused")
    circle.leave(id(1))
    #expect(nodes[0].take().contains("go on"))
  }
}
