import PiconetEngine
import TestSupport
import Testing

@testable import PiconetRuntime

@Suite("Links whose handshake does not end", .timeLimit(.minutes(15)))
struct SecuringTests {
  @Test("a dial of several addresses gives one that says nothing 3 s, then dials the others, and at last that alone")
  func silentAddress() async throws {
    let log = try await DriverStage.run(.tcp) { stage, clock in
      await stage.invite(at: ["1", "2", "3"])
      await stage.answerDial(at: "2")
      clock.advance(by: .milliseconds(2_999))
      await stage.note("2,999 ms")
      clock.advance(by: .milliseconds(1))
      await stage.note("3 s")
      await stage.answerDial(at: "1")
      clock.advance(by: .seconds(3))
      await stage.note("6 s")
      // The last one has all the time there is.
      await stage.answerDial(at: "3")
      clock.advance(by: .milliseconds(9_999))
      await stage.note("15,999 ms")
      #expect(await stage.isFarClosed == false)
      clock.advance(by: .milliseconds(1))
      await stage.note("16 s")
      #expect(await stage.isFarClosed)
    }
    #expect(
      log == [
        #"dial ["1", "2", "3"]"#, "2,999 ms", #"dial ["1", "3"]"#, "3 s", "dial", "6 s", "15,999 ms", "dial", "16 s",
      ])
  }

  @Test("over Bluetooth it has 10 s, however many addresses there are")
  func radio() async throws {
    let log = try await DriverStage.run(.l2cap) { stage, clock in
      await stage.invite(at: ["1", "2"])
      await stage.answerDial(at: "1")
      clock.advance(by: .milliseconds(9_999))
      #expect(await stage.isFarClosed == false)
      clock.advance(by: .milliseconds(1))
      #expect(await stage.isFarClosed)
    }
    #expect(log.filter { $0.hasPrefix("dial") } == [#"dial ["1", "2"]"#, "dial"])
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
