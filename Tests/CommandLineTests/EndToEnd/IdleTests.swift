import Foundation
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("A receiver that waits")
struct IdleTests {
  /// The threads of a process, by number: what each is called, and how often it was given the processor.
  private func threads(of tool: ToolProcess) throws -> [String: (name: String, turns: Int)] {
    let folder = "/proc/\(tool.pid)/task"
    var threads: [String: (name: String, turns: Int)] = [:]
    for thread in try FileManager.default.contentsOfDirectory(atPath: folder) {
      // It may have ended meanwhile.
      guard let status = try? String(contentsOfFile: "\(folder)/\(thread)/status", encoding: .utf8) else { continue }
      let fields = status.split(separator: "\n").map { $0.split(whereSeparator: \.isWhitespace) }
      let turns = fields.filter { $0.first?.hasSuffix("ctxt_switches:") == true }.compactMap { Int($0[1]) }
      let name = fields.first { $0.first == "Name:" }.map { $0.dropFirst().joined(separator: " ") }
      threads[thread] = (name ?? "", turns.reduce(0, +))
    }
    return threads
  }

  /// Waits until only four threads are left.
  private func settle(_ receiver: ToolProcess) async throws -> Bool {
    let end = ContinuousClock.now + ToolProcess.patience
    while .now < end {
      if try threads(of: receiver).count <= 4 { return true }
      try await Task.sleep(for: .milliseconds(50))
    }
    return false
  }

  @Test("has four threads, also when somebody has sent: the main one, the task runtime's, the loop and the disk's")
  func threads() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver()
      #expect(try await settle(receiver), "more than four threads")
      let sender = try scene.sender("--to", "Kitchen", try scene.photo("a.jpg"))
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(try await settle(receiver), "more than four threads")
      let names = try threads(of: receiver).values.map(\.name)
      #expect(names.contains("piconet") && names.contains("piconet-disk"), "\(names)")
    }
  }

  @Test(
    "over IP none of its own threads is woken, but for what others on the network say; the task runtime's is by its own timer",
    .enabled(if: isLongRun, "--all"),
    .enabled(if: NetworkNamespace.isAvailable, "this machine lets us make no network namespaces"))
  func turns() async throws {
    let folder = try TemporaryFolder()
    let outcome = try await NetworkNamespace.run(
      """
      "$RECEIVER" --name Kitchen --directory "$FOLDER" --accept all >"$FOLDER/out" 2>&1 </dev/null &
      receiver=$!
      until_line "$FOLDER/out" "listening on" || exit 1
      # What is announced is announced again, a second later (RFC 6762, section 8.3).
      sleep 8
      turns() {
        for task in /proc/$receiver/task/*; do
          echo "$(sed 's/ /_/g' $task/comm)" $(awk '/ctxt_switches/ { sum += $2 } END { print sum }' $task/status)
        done
      }
      turns
      sleep 60
      turns
      stop $receiver
      """,
      with: [
        "RECEIVER": ToolProcess.path(of: "imagerecv"), "FOLDER": folder.path, "PICONET_INTERFACES": "lo",
        "HOME": folder.path, "XDG_STATE_HOME": folder.path + "/state",
      ])
    let lines = outcome.lines.map { $0.split(separator: " ") }.filter { $0.count == 2 && Int($0[1]) != nil }
    let names = Set(lines.map { String($0[0]) })
    try #require(
      lines.count == 8 && names.isSuperset(of: ["imagerecv", "piconet", "piconet-disk"]), "\(outcome.output)")
    for name in ["imagerecv", "piconet", "piconet-disk"] {
      let counts = lines.filter { $0[0] == name }.compactMap { Int($0[1]) }
      #expect(counts[1] - counts[0] <= 2, "\(outcome.output)")
    }
  }
}
