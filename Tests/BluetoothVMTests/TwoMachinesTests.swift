import Foundation
import TestSupport
import Testing

/// The bus of each host, as `Tools/bluetooth-vm --hosts` names them.
private let buses = (ProcessInfo.processInfo.environment["PICONET_BUSES"] ?? "").split(separator: ",").map(String.init)

/// The session suite as `Tools/hardware-test --peer ADDRESS --far HOST:PORT` runs it between two machines. Two hosts of
/// one virtual machine play these: each adapter has a bus and a bluetoothd of its own.
@Suite(
  "The hardware test between two machines, which two hosts play", .serialized,
  .machine("--adapters 2 --hosts"))
struct TwoMachinesTests {
  /// Tests of each kind of thing that goes between the two: dialling and being dialled, refusals and their reasons,
  /// floods, files both ways, a restart.
  private static let tests = """
    ^PiconetSessionSuite[.]SessionSuite/(AvailabilityTests|AdmissionTests|MessageTests/(sizes|slowReader)|FileTests/bothWays|EndingTests/restarted)
    """

  /// Runs these tests of the suite with the second host as the other machine.
  private func run(_ suite: String, _ words: String) throws -> (
    result: FaultTests.Result, report: String, figures: [String: Any]
  ) {
    try Rehearsal.run(
      "--peer 00:AA:01:01:00:01 --fingerprint \"$key\" --far 127.0.0.1:4711 \(words)", adapters: "hci0", suite: suite,
      before: """
        unset PICONET_SLOW_TESTS
        discoverable() { hciconfig hci1; DBUS_SYSTEM_BUS_ADDRESS=\(buses[1]) busctl get-property org.bluez /org/bluez/hci1 \
          org.bluez.Adapter1 Discoverable UUIDs; }
        discoverable | grep -v bytes >/tmp/piconet-rehearsal/before
        DBUS_SYSTEM_BUS_ADDRESS=\(buses[1]) PICONET_ADAPTERS=hci1 Tools/hardware-test respond --programs "$programs" --listen 127.0.0.1:4711 \
          --size 1000000 >/tmp/piconet-rehearsal/respond.log 2>&1 </dev/null &
        responder=$!
        for line in "listening at 127.0.0.1:4711" "responding at"; do
          timeout 60 sh -c "until grep -q '^$line' /tmp/piconet-rehearsal/respond.log; do sleep 0.2; done"
        done
        key=$(grep -oE '[0-9a-f]{64}' /tmp/piconet-rehearsal/respond.log)
        export DBUS_SYSTEM_BUS_ADDRESS=\(buses[0])
        """,
      after: """
        kill -TERM $responder
        wait $responder
        [ $? -eq 0 ] || echo "the responder failed"
        cat /tmp/piconet-rehearsal/respond.log
        discoverable | grep -v bytes | diff /tmp/piconet-rehearsal/before - || echo "the far adapter is not as it was"
        """)
  }

  @discardableResult
  private func check(_ suite: String, _ words: String, atLeast count: Int) throws -> String {
    let (result, report, figures) = try run(suite, words)
    #expect(result.status == 0, "\(result.output.suffix(6000))")
    #expect(
      !result.output.contains("the responder failed") && !result.output.contains("the far adapter is not as it was"))
    // Nothing that came over the control connection was wrong.
    #expect(!result.output.contains("a connection has ended"), "\(result.output.suffix(3000))")
    let suites = try #require(figures["suites"] as? [String: Any])
    #expect(suites["passed"] as? Bool == true)
    #expect((suites["tests"] as? Int ?? 0) >= count)
    #expect(report.contains("With nodes here and at the far adapter at 127.0.0.1:4711: "))
    return report
  }

  @Test("sessions run between the adapter here and the one there over L2CAP, RFCOMM and LE, and the report says so")
  func sessions() throws {
    let report = try check("l2cap,rfcomm,le", "--suites --filter '\(Self.tests)'", atLeast: 20)
    #expect(report.contains("nobody breaks links between two machines on demand"))
  }

  @Test("every test fails with the reason if no agent serves the far adapter, and so does the whole")
  func nobodyServes() throws {
    let (result, report, _) = try Rehearsal.run(
      "--peer 00:AA:01:01:00:01 --far 127.0.0.1:9 --suites --filter '^PiconetSessionSuite[.]SessionSuite/AvailabilityTests'",
      adapters: "hci0", before: "export DBUS_SYSTEM_BUS_ADDRESS=\(buses[0])")
    #expect(result.status == 1)
    #expect(
      result.output.contains(
        "the control connection to the far adapter at 127.0.0.1:9 is lost: 127.0.0.1:9: Connection refused"),
      "\(result.output.suffix(3000))")
    #expect(report.contains("FAILED: \"sessions run over L2CAP\"\n"), "\(report)")
  }

  @Test(
    "all of the session suite runs between the two, and the figures are taken after it",
    .machine(
      "--adapters 2 --hosts --env PICONET_SUITE=l2cap", "--adapters 2 --hosts --env PICONET_SUITE=rfcomm",
      "--adapters 2 --hosts --env PICONET_SUITE=le", alone: true, long: true),
    .enabled(if: isLongRun, "takes many minutes: PICONET_SLOW_TESTS=1"))
  func whole() throws {
    try check(ProcessInfo.processInfo.environment["PICONET_SUITE"] ?? "l2cap", "--quick", atLeast: 80)
  }
}
