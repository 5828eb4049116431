import Foundation
import Testing

/// `Tools/hardware-test` as it runs between real adapters, between two emulated ones: what it is worth on real hardware depends on
/// nothing being wrong with it.
@Suite(
  "The hardware test, rehearsed between emulated adapters", .serialized,
  .enabled(
    if: ProcessInfo.processInfo.environment["PICONET_BLUETOOTH_VM"] == "1",
    "runs in the virtual machine: Tools/test --bluetooth"))
struct RehearsalTests {
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path(percentEncoded: false)

  /// The programs as they were built beside the tests, and the bare one in C.
  private static func programs() throws -> (folder: String, bundle: String) {
    let bundle = try #require(CommandLine.arguments.first)
    let built = URL(filePath: bundle).deletingLastPathComponent().path(percentEncoded: false)
    let folder = "/tmp/piconet-rehearsal"
    let made = try FaultTests.run(
      """
      set -e; mkdir -p \(folder); cd \(folder)
      for name in imagesend imagerecv piconet piconet-benchmark; do ln -sf "\(built)/$name" .; done
      [ -x bluetooth-baseline ] ||
        cc -o bluetooth-baseline "\(root)"/Tools/BluetoothBenchmark/baseline/*.c $(pkg-config --cflags --libs bluez libsystemd)
      """)
    try #require(made.status == 0, "\(made.output)")
    return (folder, bundle)
  }

  /// `Tools/hardware-test` with these words, its output, and its report.
  private static func rehearse(_ words: String, adapters: String, before: String = "", after: String = "") throws -> (
    result: FaultTests.Result, report: String, figures: [String: Any]
  ) {
    let (folder, bundle) = try programs()
    let report = "\(folder)/report"
    let result = try FaultTests.run(
      """
      cd "\(root)"; export PICONET_PROGRAMS=\(folder) PICONET_TEST_BUNDLE="\(bundle)" PICONET_SUITE=l2cap
      rm -rf \(report)
      \(before)
      PICONET_ADAPTERS=\(adapters) timeout 600 Tools/test --hardware --quick --size 1000000 --report \(report) \(words) </dev/null
      status=$?
      \(after)
      exit $status
      """)
    let text = (try? String(contentsOfFile: "\(report)/report.md", encoding: .utf8)) ?? ""
    let data = FileManager.default.contents(atPath: "\(report)/report.json") ?? Data()
    let figures = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any] ?? [:]
    print(text)
    return (result, text, figures)
  }

  private static func goodput(_ figures: [String: Any], _ name: String) -> Double? {
    let rounds = (figures["goodput"] as? [String: [Any]])?[name]
    return rounds?.compactMap { ($0 as? [String: Any])?["mb_s"] as? Double }.first
  }

  @Test("between two adapters the suites run, every figure is taken, and what is skipped says why")
  func twoAdapters() throws {
    let (result, report, figures) = try Self.rehearse(
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
    // Either a share of the air that can be, or the reason why there is none.
    #expect(
      report.contains("sent on the air for each byte of the file, L2CAP | 1.") || report.contains("btmon was too slow"))
  }

  @Test("between two machines, which two adapters play, figures and signal strength are taken")
  func peer() throws {
    let (result, report, figures) = try Self.rehearse(
      "--peer 00:aa:01:01:00:01", adapters: "hci0",
      before: """
        PICONET_ADAPTERS=hci1 Tools/hardware-test respond --size 1000000 >/tmp/piconet-rehearsal/respond.log 2>&1 </dev/null &
        responder=$!
        timeout 60 sh -c 'until grep -q "^responding at 00:AA:01:01:00:01" /tmp/piconet-rehearsal/respond.log; do sleep 0.2; done'
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
    // What bare sockets lose on a busy machine is named.
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
      ("hci0", "--peer kitchen", "'kitchen' is no Bluetooth address"), ("hci0,hci1", "--size many", "--size"),
    ] {
      let result = try FaultTests.run(
        "cd \"\(Self.root)\"; PICONET_ADAPTERS=\(adapters) PICONET_PROGRAMS=/tmp Tools/hardware-test \(words) </dev/null"
      )
      #expect(result.status == 2, "\(words)")
      #expect(result.output.contains(reason), "\(result.output)")
    }
  }
}
