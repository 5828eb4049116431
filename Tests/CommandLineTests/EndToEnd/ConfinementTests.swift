import Foundation
import Glibc
import TestSupport
import Testing

@testable import PiconetCommandLine

extension LandlockSupport {
  /// What this kernel lacks; nil: nothing.
  fileprivate static var obstacle: String? { if case .missing(let reason) = current { reason } else { nil } }
}

@Suite(
  "imagerecv keeps itself to where it stores",
  .enabled(if: LandlockSupport.obstacle == nil, "the kernel: \(LandlockSupport.obstacle ?? "")"))
struct ConfinementTests {
  private static let acts = [
    "make", "write", "truncate", "unnamed", "mkdir", "symlink", "mkfifo", "link", "move", "remove",
  ]

  @Test(
    "on each kind of thread, and in a program that is run, what is outside can't be written, and what is inside can")
  func everyThread() async throws {
    let folder = try TemporaryFolder()
    let kinds = ["main", "pool", "loop", "disk", "store", "person", "child"]
    for kind in kinds { for place in ["inside", "outside"] { try folder.write("\(place)/\(kind)", [1, 2, 3]) } }
    let probe = try ToolProcess(
      "confinement-probe", [folder.path + "/inside", folder.path + "/outside"], environment: [:])
    #expect(await probe.end() == 0, "\(probe.output)\(probe.error)")
    let told = Dictionary(
      probe.output.split(separator: "\n").map { line in
        let words = line.split(separator: " ")
        return (words.dropLast().joined(separator: " "), String(words.last ?? ""))
      }, uniquingKeysWith: { $0 + $1 })
    #expect(told.count == kinds.count * 2 * (Self.acts.count + 1), "\(probe.output)")
    // Before Linux 6.2, Landlock can't forbid truncation.
    let mayTruncate: Bool = if case .usable(let version) = LandlockSupport.current { version < 3 } else { false }
    for kind in kinds {
      for act in Self.acts where !(mayTruncate && act == "truncate") {
        #expect(told["\(kind) inside \(act)"] == "ok", "\(kind): \(act)")
        #expect(told["\(kind) outside \(act)"] == "EACCES", "\(kind): \(act)")
      }
      #expect(told["\(kind) outside read"] == "ok", "\(kind)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/outside").sorted() == kinds.sorted())
    for kind in kinds where !mayTruncate {
      #expect(try TemporaryFolder.bytes(folder.path + "/outside/\(kind)") == [1, 2, 3])
    }
  }

  /// The threads of a process by name, with whether they were made after it was confined: that goes with
  /// PR_SET_NO_NEW_PRIVS.
  private func threads(of pid: pid_t) -> [(name: String, isConfined: Bool)] {
    let folder = "/proc/\(pid)/task"
    return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap { thread in
      guard let status = try? String(contentsOfFile: "\(folder)/\(thread)/status", encoding: .utf8) else { return nil }
      func value(_ key: String) -> String {
        let line = status.split(separator: "\n").first { $0.hasPrefix("\(key):\t") }
        return String(line?.dropFirst(key.count + 2) ?? "")
      }
      return (value("Name"), value("NoNewPrivs") == "1")
    }
  }

  @Test("every thread of it is confined while it asks a person, receives and stores, and they have their names")
  func everyThreadOfTheProgram() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("-v", accept: nil, json: false, onTerminal: true)
      let sender = try scene.sender(
        "--to", "Kitchen", try scene.photo("a.jpg"), try scene.sparse("b.jpg", size: 1 << 26))
      #expect(await receiver.shows(AcceptQuestion.Wording.acceptFiles.prompt), "\(receiver.error)")
      var seen = threads(of: receiver.pid)
      receiver.type("y\n")
      let end = ContinuousClock.now + ToolProcess.patience
      while sender.isRunning, .now < end {
        seen += threads(of: receiver.pid)
        try await Task.sleep(for: .milliseconds(5))
      }
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(Set(seen.filter { !$0.isConfined }.map(\.name)).isEmpty)
      #expect(Set(seen.map(\.name)).isSuperset(of: ["imagerecv", "piconet", "piconet-disk"]))
      #expect(!receiver.error.contains("kernel"), "\(receiver.error)")
    }
  }

  @Test("imagerecv writes known peers and a trace that are kept elsewhere")
  func elsewhere() async throws {
    try await ToolScene.run { scene in
      let kept = try scene.folder.folder("kept")
      let traces = try scene.folder.folder("traces")
      let key = try await scene.fingerprint("Kitchen")
      // Any other key.
      try await scene.trust("add", "Phone", String(key.reversed()), state: "Kitchen")
      try FileManager.default.moveItem(atPath: scene.knownPeers("Kitchen"), toPath: kept + "/peers")
      try FileManager.default.createSymbolicLink(
        atPath: scene.knownPeers("Kitchen"), withDestinationPath: kept + "/peers")
      try scene.introduce("Kitchen", as: "Kitchen", to: "sender")
      let receiver = try scene.start(
        "imagerecv", ["--name", "Kitchen", "--directory", scene.into], state: "Kitchen", onTerminal: true,
        variables: ["PICONET_TRACE": traces + "/run"])
      #expect(await receiver.shows("listening on"), "\(receiver.error)")
      let sender = try scene.sender("--to", "Kitchen", try scene.photo("a.jpg"))
      #expect(await receiver.shows(AcceptQuestion.Wording.acceptFiles.prompt), "\(receiver.error)")
      receiver.type("always\n")
      #expect(await sender.end() == 0, "\(sender.error)")
      let sent = try await scene.fingerprint("sender")
      #expect(try await scene.isRemembered(sent, in: kept + "/peers"), "\(receiver.error)")
      receiver.send(signal: SIGTERM)
      #expect(await receiver.end() == 143)
      #expect(try !TemporaryFolder.bytes(traces + "/run").isEmpty)
    }
  }

  @Test("a directory and a state folder that are reached through links are those that count")
  func links() async throws {
    try await ToolScene.run { scene in
      let real = try scene.folder.folder("real")
      let state = try scene.folder.folder("real-state")
      let link = scene.folder.path + "/link"
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: real)
      try FileManager.default.createSymbolicLink(
        atPath: scene.folder.path + "/state-Kitchen", withDestinationPath: state)
      let receiver = try await scene.receiver(into: link)
      let album = try scene.folder.folder("album")
      _ = try scene.photo("album/a.jpg")
      let sender = try scene.sender("--to", "Kitchen", album)
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(try scene.received(real + "/album") == ["a.jpg"])
      #expect(await receiver.shows("\"stored\""), "\(receiver.error)")
      receiver.send(signal: SIGTERM)
      #expect(await receiver.end() == 143)
      let history = try scene.start("imagerecv", ["--history"], state: "Kitchen")
      #expect(await history.end() == 0, "\(history.error)")
      #expect(history.output.contains("a.jpg"), "\(history.output)")
    }
  }
}
