import PiconetEngine
import TestSupport
import Testing

@testable import PiconetRuntime

@Suite("What a driver tells discoveries of radio and ports", .timeLimit(.minutes(15)))
struct DriverRadioTests {
  @Test("a dial over Bluetooth stops the scan before it begins, and lets it go on 2 s after its end")
  func dial() async throws {
    let log = try await DriverStage.run(.l2cap) { stage, clock in
      await stage.invite()
      await stage.endDial()
      clock.advance(by: .milliseconds(1999))
      await stage.note("1999 ms")
      clock.advance(by: .milliseconds(1))
    }
    #expect(log == ["busy", "dial", "1999 ms", "free"])
  }

  @Test("a cancelled dial frees the radio too")
  func cancelled() async throws {
    let log = try await DriverStage.run(.rfcomm) { stage, clock in
      await stage.invite()
      await stage.cancel()
      clock.advance(by: .seconds(2))
    }
    #expect(log == ["busy", "dial", "cancelled", "free"])
  }

  @Test("an accepted link in its handshake uses the radio until it is gone")
  func links() async throws {
    let log = try await DriverStage.run(.le) { stage, clock in
      await stage.accept()
      clock.advance(by: .seconds(1))
      await stage.note("1 s")
      await stage.dropLink()
      clock.advance(by: RadioUse.hold)
    }
    #expect(log == ["busy", "1 s", "dropped", "free"])
  }

  @Test("an accepted link that never speaks uses the radio for 2 s")
  func stalledHandshake() async throws {
    let log = try await DriverStage.run(.le) { stage, clock in
      await stage.accept()
      clock.advance(by: .milliseconds(1999))
      await stage.note("1999 ms")
      clock.advance(by: .milliseconds(1))
      await stage.note("2 s")
      await stage.dropLink()
    }
    #expect(log == ["busy", "1999 ms", "free", "2 s", "dropped"])
  }

  @Test("a dial over TCP is no use of the radio")
  func tcp() async throws {
    let log = try await DriverStage.run(.tcp) { stage, clock in
      await stage.invite()
      await stage.endDial()
      clock.advance(by: .seconds(3))
    }
    #expect(log == ["dial"])
  }

  @Test("ports that change while we listen are advertised anew; what could not listen is tried again")
  func ports() async throws {
    let log = try await DriverStage.run(.l2cap) { stage, _ in
      await stage.advertise()
      await stage.changePort(nil)
      await stage.changePort(0x1005)
      await stage.changePort(0x1005)
      await stage.changePort(0x1007)
      await stage.hide()
      await stage.changePort(0x1009)
    }
    #expect(log == ["ports []", "ports [l2cap 4101]", "ports [l2cap 4103]", "ports none"])
  }

  @Test("the radio answers only while a hidden node expects a peer, and not for a node that is available")
  func expecting() async throws {
    let log = try await DriverStage.run(.le) { stage, clock in
      await stage.expect(for: .seconds(60))
      clock.advance(by: .seconds(59))
      await stage.endRound()
      await stage.note("59 s")
      clock.advance(by: .seconds(1))
      await stage.endRound()
      await stage.note("60 s")
      await stage.expect(for: .seconds(60))
      await stage.advertise()
      await stage.endRound()
      await stage.note("available")
      await stage.hide()
      await stage.endRound()
      await stage.note("hidden")
    }
    #expect(
      log == [
        "expecting", "59 s", "expecting nobody", "60 s", "expecting", "ports []", "expecting nobody",
        "available", "ports none", "expecting", "hidden",
      ])
  }

  @Test("a node that hides and expects no peer, or is not reached over Bluetooth, leaves the radio alone")
  func expectingNobody() async throws {
    let hidden = try await DriverStage.run(.le) { stage, _ in
      await stage.advertise()
      await stage.endRound()
      await stage.hide()
      await stage.endRound()
      await stage.note("hidden")
    }
    #expect(hidden == ["ports []", "ports none", "hidden"])
    let wired = try await DriverStage.run(.tcp) { stage, _ in
      await stage.expect(for: .seconds(60))
      await stage.note("expecting over TCP")
    }
    #expect(wired == ["expecting over TCP"])
  }

  @Test("a dial of one node stops the scans of its siblings, and a node that comes meanwhile is told at once")
  func siblings() async throws {
    let clock = ManualClock()
    let loop = try EventLoop(name: "radio", clock: clock)
    defer { loop.stop() }
    let worker = try WorkerThread(name: "radio disk", limit: 4)
    defer { worker.stop() }
    let plan = await loop.perform { PlanBox(RadioPlan(loop: loop)) }
    let stages = (0..<3).map { _ in DriverStage(loop, worker, .l2cap, plan: plan.value) }
    await loop.perform {
      stages[0].make()
      stages[1].make()
    }
    await stages[0].invite()
    await loop.perform { stages[2].make() }
    clock.advance(by: .seconds(5))
    await stages[1].note("5 s")
    // It is stopped in the middle of its dial.
    await loop.perform { stages[0].end() }
    clock.advance(by: .seconds(2))
    let logs = await loop.perform {
      stages[1].end()
      stages[2].end()
      return stages.map(\.log)
    }
    #expect(logs[0].prefix(2) == ["busy", "dial"])
    #expect(logs[1] == ["busy", "5 s", "free"])
    #expect(logs[2] == ["busy", "free"])
  }

  @Test("a sibling that searches has its turn while another node sends for long, and the node that sends has none")
  func turns() async throws {
    let clock = ManualClock()
    let loop = try EventLoop(name: "radio", clock: clock)
    defer { loop.stop() }
    let worker = try WorkerThread(name: "radio disk", limit: 4)
    defer { worker.stop() }
    let plan = await loop.perform { PlanBox(RadioPlan(loop: loop)) }
    let stages = (0..<2).map { _ in DriverStage(loop, worker, .l2cap, plan: plan.value) }
    await loop.perform { for stage in stages { stage.make() } }
    await stages[0].search()
    await stages[0].fill()
    await stages[1].search()
    // A turn is 2 s in every 20 s.
    for second in 1...20 {
      clock.advance(by: .seconds(1))
      await stages[0].fill()
      if second == 2 { await stages[1].note("over") }
    }
    await stages[1].note("again")
    clock.advance(by: RadioUse.hold)
    let logs = await loop.perform {
      for stage in stages { stage.end() }
      return stages.map(\.log)
    }
    #expect(logs[0] == ["busy", "free"])
    #expect(logs[1] == ["busy", "turn", "no turn", "over", "turn", "again", "free", "no turn"])
  }

  @Test("a link on which nothing moves any more lets the node that waits for it search again after 2 s")
  func stalledLink() async throws {
    let log = try await DriverStage.run(.l2cap) { stage, clock in
      await stage.search()
      await stage.fill()
      clock.advance(by: .milliseconds(1999))
      await stage.fill()
      clock.advance(by: .milliseconds(1999))
      await stage.note("1999 ms")
      clock.advance(by: .milliseconds(1))
      await stage.note("2 s")
    }
    #expect(log == ["busy", "1999 ms", "free", "2 s"])
  }

  /// Sendable is right: used on the loop only.
  private struct PlanBox: @unchecked Sendable {
    let value: RadioPlan
    init(_ value: RadioPlan) { self.value = value }
  }
}
