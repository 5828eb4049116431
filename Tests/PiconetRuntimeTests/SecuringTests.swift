import PiconetEngine
import TestSupport
import Testing

@testable import PiconetRuntime

@Suite("Links whose handshake does not end", .timeLimit(.minutes(15)))
struct SecuringTests {
  @Test("over TCP an address that says nothing holds up no other one, and has 10 s")
  func silentAddress() async throws {
    let log = try await DriverStage.run(.tcp) { stage, clock in
      await stage.invite(at: ["1", "2", "3"])
      await stage.answerDial(at: "1")
      clock.advance(by: .milliseconds(249))
      await stage.note("249 ms")
      clock.advance(by: .milliseconds(1))
      await stage.note("250 ms")
      clock.advance(by: .milliseconds(50))
      await stage.note("300 ms")
      clock.advance(by: .milliseconds(9_699))
      #expect(await stage.isFarClosed == false)
      clock.advance(by: .milliseconds(1))
      #expect(await stage.isFarClosed)
    }
    #expect(log.prefix(6) == ["dial", "249 ms", "dial", "250 ms", "dial", "300 ms"])
  }

  @Test("over Bluetooth it has 10 s, however many addresses of the device there are")
  func radio() async throws {
    let log = try await DriverStage.run(.l2cap) { stage, clock in
      await stage.invite(at: ["a/1", "a/2"])
      await stage.answerDial(at: "a/1")
      clock.advance(by: .milliseconds(9_999))
      #expect(await stage.isFarClosed == false)
      clock.advance(by: .milliseconds(1))
      #expect(await stage.isFarClosed)
    }
    #expect(log.filter { $0.hasPrefix("dial") } == [#"dial ["a/1", "a/2"]"#, "dial"])
  }

  @Test("of too many accepted ones the oldest of the host with the most goes, and none of another's")
  func crowd() async throws {
    _ = try await DriverStage.run(.tcp) { stage, _ in
      await stage.changePort(4_000)
      await stage.accept(from: "10.0.0.2:1")
      for number in 1...127 { await stage.accept(from: "10.0.0.1:\(number)") }
      for number in 128...400 {
        await stage.accept(from: "10.0.0.1:\(number)")
        let open = await stage.open()
        #expect(open.count == 128 && open.first == "10.0.0.2:1" && open.last == "10.0.0.1:\(number)")
      }
      await stage.accept(from: "10.0.0.3:1")
      #expect(await stage.open().contains("10.0.0.3:1"))
    }
  }
}
