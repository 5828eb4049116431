import Testing

@Suite("The programs' tasks")
struct TaskPoolTests {
  @Test("run, sleep, are cancelled and block on threads of their own pool, which end when there is nothing to do")
  func probe() async throws {
    let probe = try ToolProcess("task-pool-probe", [], environment: [:])
    #expect(await probe.end() == 0, "\(probe.output) \(probe.error)")
    #expect(
      probe.output == """
        many 2001000
        sleeping [0, 1, 2, 3, 4] early false
        cancelled [true, true]
        blocked true
        resting, foreign 1

        """, "\(probe.output)")
  }
}
