import Foundation
import TestSupport
import Testing

/// `Tools/hardware-test`, which is for real adapters, run between two emulated ones: it is worth something on real
/// hardware only if nothing is wrong with it.
@Suite(
  "The hardware test, rehearsed between emulated adapters", .serialized,
  .machine("--adapters 2", alone: true, long: true))
struct RehearsalTests {
  private static func goodput(_ figures: [String: Any], _ name: String) -> Double? {
    let rounds = (figures["goodput"] as? [String: [Any]])?[name]
    return rounds?.compactMap { ($0 as? [String: Any])?["mb_s"] as? Double }.first
  }

  @Test("between two adapters the suites run, every figure is taken, and what is skipped says why")
  func twoAdapters() throws {
    let (result, report, figures) = try Rehearsal.run(
      "--filter '^PiconetSessionSuite[.]SessionSuite/EndingTests'", adapters: "hci0,hci1")
    #expect(result.status == 0, "\(result.output.suffix(3000))")
    let suites = try #require(figures["suites"] as? [String: Any])
    #expect(suites["passed"] as? Bool == true)
    #expect((suites["tests"] as? Int ?? 0) >= 4)
    #expect(!report.contains("No test cases found"))
    for name in [
      "Piconet over l2cap", "Piconet over rfcomm", "l2test", "rctest", "bare l2cap in C", "bare rfcomm in C",
    ] { #expect((Self.goodput(figures, name) ?? 0) > 0, "\(name)") }
    #expect(report.contains("start of imagesend to found") && report.contains("hcitool inq"))
    #expect(report.contains("| hci0 | 00:AA:01:00:00:00 | emulated |"))
    // Either a plausible figure for the air, or the reason why it is missing.
    #expect(
      report.contains("sent on the air for each byte of the file, L2CAP | 1.") || report.contains("btmon was too slow"))
  }

  @Test("between two machines, which two adapters play, figures and signal strength are taken")
  func peer() throws {
    let (result, report, figures) = try Rehearsal.run(
      "--peer 00:aa:01:01:00:01 --fingerprint \"$key\"", adapters: "hci0",
      before: """
        PICONET_ADAPTERS=hci1 Tools/hardware-test respond --programs "$programs" --size 1000000 >/tmp/piconet-rehearsal/respond.log 2>&1 </dev/null &
        responder=$!
        timeout 60 sh -c 'until grep -q "^responding at 00:AA:01:01:00:01" /tmp/piconet-rehearsal/respond.log; do sleep 0.2; done'
        key=$(grep -oE '[0-9a-f]{64}' /tmp/piconet-rehearsal/respond.log)
        """,
      after: """
        kill -TERM $responder
        wait $responder
        [ $? -eq 0 ] || echo "the responder failed: $(cat /tmp/piconet-rehearsal/respond.log)"
        """)
    #expect(result.status == 0, "\(result.output.suffix(3000))")
    #expect(!result.output.contains("the responder failed"))
    for name in ["Piconet over l2cap", "Piconet over rfcomm"] {
      #expect((Self.goodput(figures, name) ?? 0) > 0, "\(name): \(result.output.suffix(3000))")
    }
    // If bare sockets get nothing through on a busy machine, the report says so.
    for name in ["bare l2cap in C", "bare rfcomm in C"] {
      #expect((Self.goodput(figures, name) ?? 0) > 0 || report.contains("- \(name): no round succeeded"), "\(name)")
    }
    #expect(report.contains("| signal | -"), "\(report)")
    #expect(report.contains("l2test and rctest: between two machines"))
    #expect(report.contains("Not run: between two machines"))
  }

  @Test("adapters that are not there, and a word that is no address, are refused before anything begins")
  func refused() throws {
    for (adapters, words, reason) in [
      ("hci0", "", "this needs 2 adapter(s)"), ("hci0,hci17", "", "there is no adapter hci17"),
      ("hci0", "--peer kitchen", "'kitchen' is no Bluetooth address"),
      ("hci0", "--peer 00:AA:01:01:00:01", "--peer takes --fingerprint as well"),
      ("hci0", "--peer 00:AA:01:01:00:01 --fingerprint 9f86d081884c", "64 hexadecimal digits"),
      ("hci0,hci1", "--size many", "--size"),
      ("hci0", "--far 127.0.0.1:4711", "--far goes with --peer"), ("hci0", "--listen :1", "--listen takes HOST:PORT"),
      ("hci0", "--listen 127.0.0.1:70000", "--listen takes HOST:PORT"),
      ("hci0", "--listen 127.0.0.1:1", "goes with respond"),
    ] {
      let result = try FaultTests.run(
        "cd \"\(Rehearsal.root)\"; PICONET_ADAPTERS=\(adapters) Tools/hardware-test --programs /tmp \(words) </dev/null"
      )
      #expect(result.status == 2, "\(words)")
      #expect(result.output.contains(reason), "\(result.output)")
    }
  }
}
