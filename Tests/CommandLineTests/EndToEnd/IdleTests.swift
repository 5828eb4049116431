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

  @Test(
    "has four threads, also after a photo has come: the main one, the loop, the disk's, and the one for the time")
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
    "over IP it is woken at most six times a minute, but for what others on the network say",
    .enabled(if: NetworkNamespace.isAvailable, "this machine lets us make no network namespaces"))
  func turns() async throws {
    let seconds = isLongRun ? 60 : 20
    let folder = try TemporaryFolder()
    let outcome = try await NetworkNamespace.run(
      """
      "$RECEIVER" --name Kitchen --directory "$FOLDER" --accept all >"$FOLDER/out" 2>&1 </dev/null &
      receiver=$!
      until_line "$FOLDER/out" "listening on" || exit 1
      # What is announced is announced again, a second later (RFC 6762, section 8.3); threads without work end after 5 s.
      sleep 9
      turns() {
        for task in /proc/$receiver/task/*; do
          awk '/^Pid/ { pid = $2 } /^voluntary_ctxt/ { print "turns", pid, $2 }' $task/status
        done
      }
      turns
      echo then
      sleep $SECONDS_ASLEEP
      turns
      stop $receiver
      """,
      with: [
        "RECEIVER": ToolProcess.path(of: "imagerecv"), "FOLDER": folder.path, "PICONET_INTERFACES": "lo",
        "HOME": folder.path, "XDG_STATE_HOME": folder.path + "/state", "SECONDS_ASLEEP": "\(seconds)",
      ])
    let parts = outcome.lines.split(separator: "then").map { Self.turns($0) }
    guard parts.count == 2, parts[0].count == 4 else {
      Issue.record("\(outcome.output)")
      return
    }
    var woken = 0
    for (thread, turns) in parts[1] { woken += turns - (parts[0][thread] ?? 0) }
    #expect(woken <= 6 * seconds / 60, "\(outcome.output)")
  }

  /// How often each thread has waited, of lines such as `turns 4711 12`.
  private static func turns(_ lines: ArraySlice<String>) -> [String: Int] {
    var turns: [String: Int] = [:]
    for line in lines {
      let words = line.split(separator: " ")
      if words.count == 3, words[0] == "turns" { turns[String(words[1])] = Int(words[2]) }
    }
    return turns
  }
}
