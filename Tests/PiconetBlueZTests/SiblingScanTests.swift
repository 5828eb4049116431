import PiconetEngine
import Testing

@testable import PiconetBlueZ

@Suite("Nodes of one process scan together")
struct SiblingScanTests {
  /// Machines, two by default, that tell each other of their scans, as a circle does, with one clock.
  private struct Pair {
    var scenes: [Scene]
    /// How much of the time that has passed at least one of them was scanning, and how much just one.
    var busy = Duration.zero
    var alone = Duration.zero

    init(_ count: Int = 2) {
      scenes = (0..<count).map { _ in Scene() }
      for index in scenes.indices { scenes[index].tell(.daemonAppeared) }
      settle()
    }

    mutating func search(_ index: Int) {
      scenes[index].tell(.search(Scene.search))
      settle()
    }

    func isScanning(_ index: Int) -> Bool { scenes[index].daemon.adapters[Daemon.path]?.hasDiscovery == true }

    /// Answers all calls, and tells all of the scans.
    mutating func settle() {
      for _ in 0..<20 {
        var isOver = true
        for index in scenes.indices {
          scenes[index].answerAll()
          let windows = scenes[index].scans
          if !windows.isEmpty { isOver = false }
          scenes[index].scans = []
          for window in windows {
            for other in scenes.indices where other != index { scenes[other].tell(.siblingScans(window)) }
          }
        }
        if isOver { return }
      }
    }

    mutating func pass(_ duration: Duration) {
      let step = Duration.milliseconds(100)
      var left = duration
      while left > .zero {
        left -= step
        for index in scenes.indices { scenes[index].pass(step) }
        settle()
        let count = scenes.indices.count { isScanning($0) }
        if count > 0 { busy += step }
        if count == 1 { alone += step }
      }
    }
  }

  @Test(
    "a node that rests joins a scan that begins, and ends with it: the adapter rests as long as with one node",
    arguments: [3, 10])
  func together(_ count: Int) {
    var single = Pair(1)
    single.search(0)
    single.pass(.seconds(600))

    var pair = Pair(count)
    pair.search(0)
    // Long after the first eagerness, in the middle of a rest or a scan.
    pair.pass(.seconds(103))
    for index in 1..<count {
      pair.search(index)
      pair.pass(.seconds(7))
    }
    pair.pass(.seconds(120))
    (pair.busy, pair.alone) = (.zero, .zero)
    pair.pass(.seconds(600))
    #expect(pair.busy < single.busy + .seconds(15), "\(pair.busy) against \(single.busy)")
    #expect(pair.alone < .seconds(6), "\(pair.alone)")
  }

  @Test("a scan that begins during another one ends with it, and is no whole scan: no device is missed for it")
  func late() {
    var pair = Pair()
    pair.search(0)
    pair.pass(.seconds(11))
    pair.search(1)
    #expect(pair.isScanning(0) && pair.isScanning(1))
    pair.scenes[1].hear(1)
    pair.scenes[1].answerReads(.success([Scene.record(2, adapter: Scene.address(1))]))
    pair.scenes[1].forgetStrength(1)
    pair.pass(.milliseconds(1200))
    #expect(!pair.isScanning(0) && !pair.isScanning(1))
    #expect(pair.scenes[1].reports.count == 1, "seen, and not gone")
  }

  @Test("a node that does not search is not made to scan")
  func idle() {
    var pair = Pair()
    pair.search(0)
    pair.pass(.seconds(5))
    #expect(pair.isScanning(0) && !pair.isScanning(1))
  }

  @Test("after a pause the scans begin anew and whole, all of them")
  func pause() {
    var pair = Pair()
    pair.search(0)
    pair.search(1)
    pair.pass(.seconds(3))
    for index in 0...1 { pair.scenes[index].tell(.pauseWanted(true)) }
    pair.settle()
    #expect(!pair.isScanning(0) && !pair.isScanning(1))
    #expect(pair.scenes.map(\.pauses) == [[true], [true]])
    for index in 0...1 { pair.scenes[index].tell(.pauseWanted(false)) }
    pair.settle()
    #expect(pair.isScanning(0) && pair.isScanning(1))
    pair.pass(.milliseconds(11_500))
    #expect(pair.isScanning(0) && pair.isScanning(1))
  }
}
