import Foundation
import Testing

/// Runs `Tools/hardware-test` in the virtual machine, with the programs that were built beside the tests.
enum Rehearsal {
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path(percentEncoded: false)

  /// The programs that were built beside the tests, and the bare one in C.
  static func programs() throws -> (folder: String, bundle: String) {
    let bundle = try #require(CommandLine.arguments.first)
    let built = URL(filePath: bundle).deletingLastPathComponent().path(percentEncoded: false)
    let folder = "/tmp/piconet-rehearsal"
    let made = try FaultTests.run(
      """
      set -e; mkdir -p \(folder); cd \(folder)
      for name in imagesend imagerecv piconet piconet-benchmark far-adapter; do ln -sf "\(built)/$name" .; done
      [ -x bluetooth-baseline ] ||
        cc -o bluetooth-baseline "\(root)"/Tools/BluetoothBenchmark/baseline/*.c $(pkg-config --cflags --libs bluez libsystemd)
      """)
    try #require(made.status == 0, "\(made.output)")
    return (folder, bundle)
  }

  /// Runs `Tools/hardware-test` with these words; gives its output and its report.
  /// - Parameter suite: the transports of the session suite.
  static func run(
    _ words: String, adapters: String, suite: String = "l2cap", before: String = "", after: String = ""
  ) throws -> (
    result: FaultTests.Result, report: String, figures: [String: Any]
  ) {
    let (folder, bundle) = try programs()
    let report = "\(folder)/report"
    let result = try FaultTests.run(
      """
      cd "\(root)"; export PICONET_SUITE=\(suite); programs=\(folder)
      rm -rf \(report)
      \(before)
      PICONET_ADAPTERS=\(adapters) timeout 1700 Tools/test --hardware --programs \(folder) --bundle "\(bundle)" --quick --size 1000000 --report \(report) \(words) </dev/null
      status=$?
      \(after)
      [ $status -eq 0 ] || grep -h -A 2 'recorded an issue' \(report)/suites.log | cut -c 1-400 | head -n 60
      exit $status
      """)
    let text = (try? String(contentsOfFile: "\(report)/report.md", encoding: .utf8)) ?? ""
    let data = FileManager.default.contents(atPath: "\(report)/report.json") ?? Data()
    let figures = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any] ?? [:]
    print(text)
    return (result, text, figures)
  }
}
