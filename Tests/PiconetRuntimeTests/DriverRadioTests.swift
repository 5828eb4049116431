import PiconetEngine
import TestSupport
import Testing

@testable import PiconetRuntime

@Suite("What a driver tells discoveries of radio and ports", .timeLimit(.minutes(15)))
struct DriverRadioTests {
  @Test("a dial over Bluetooth stops the scan before it begins, and lets it go on 2 s after its end")
  func dial() async throws {
    let log = try await run(.l2cap) { stage, clock in
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
    let log = try await run(.rfcomm) { stage, clock in
      await stage.invite()
      await stage.cancel()
      clock.advance(by: .seconds(2))
    }
    #expect(log == ["busy", "dial", "cancelled", "free"])
  }

  @Test("an accepted link in its handshake uses the radio until it is gone")
  func links() async throws {
    let log = try await run(.le) { stage, clock in
      await stage.accept()
      clock.advance(by: .seconds(5))
      await stage.note("5 s")
      await stage.dropLink()
      clock.advance(by: .seconds(2))
    }
    #expect(log == ["busy", "5 s", "dropped", "free"])
  }

  @Test("a dial over TCP is no use of the radio")
  func tcp() async throws {
    let log = try await run(.tcp) { stage, clock in
      await stage.invite()
      await stage.endDial()
      clock.advance(by: .seconds(3))
    }
    #expect(log == ["dial"])
  }

  @Test("ports that change while we listen are advertised anew; what could not listen is tried again")
  func ports() async throws {
    let log = try await run(.l2cap) { stage, _ in
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

  private func run(
    _ kind: TransportKind, _ body: (DriverStage, ManualClock) async throws -> Void
  ) async throws -> [String] {
    let clock = ManualClock()
    let loop = try EventLoop(name: "radio", clock: clock)
    defer { loop.stop() }
    let worker = try WorkerThread(name: "radio disk", limit: 4)
    defer { worker.stop() }
    let stage = DriverStage(loop, worker, kind)
    await loop.perform { stage.make() }
    try await body(stage, clock)
    return await loop.perform {
      defer { stage.end() }
      return stage.log
    }
  }
}
