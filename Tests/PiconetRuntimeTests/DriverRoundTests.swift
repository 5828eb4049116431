import PiconetEngine
import TestSupport
import Testing

@testable import PiconetRuntime

@Suite("The rounds of a driver", .timeLimit(.minutes(15)))
struct DriverRoundTests {
  @Test("inputs that jobs have handed over are taken when their round ends, not behind all jobs that wait")
  func inputsAmidJobs() async throws {
    let log = try await DriverStage.run(.tcp) { stage, clock in
      await stage.invite(amid: 12, each: EventLoop.jobTime, by: clock)
    }
    let dial = try #require(log.firstIndex(of: "dial"))
    let last = try #require(log.firstIndex(of: "job 11"))
    #expect(dial < last, "\(log)")
  }
}
