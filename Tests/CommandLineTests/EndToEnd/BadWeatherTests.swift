import Foundation
import Glibc
import Piconet
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("imagesend and imagerecv in bad weather")
struct BadWeatherTests {
  static let large: Int64 = 3 << 30

  /// A transfer that has begun and has far to go.
  private func underWay(
    _ scene: ToolScene, _ arguments: String..., size: Int64 = Self.large, receiving: [String] = [],
    body: (ToolProcess, ToolProcess) async throws -> Void
  ) async throws {
    let receiver = try await scene.receiver(receiving)
    let file = try scene.sparse("large.jpg", size: size)
    let sender = try scene.start(
      "imagesend", ["--json", "--to", "Kitchen"] + arguments + [file], state: "sender")
    try #require(await receiver.shows("\"progress\""), "\(receiver.error)")
    try await body(sender, receiver)
    for tool in [sender, receiver] { #expect((1..<64 << 10).contains(tool.peakMemory), "\(tool.peakMemory) KiB") }
  }

  /// All names in the folder, hidden ones too.
  private func entries(_ folder: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? ["(can't be read)"]
  }

  /// What a person sees. Hidden partial files may wait there until the same file comes again.
  private func visible(_ folder: String) -> [String] { entries(folder).filter { !$0.hasPrefix(".piconet-resume-") } }

  @Test("a sender that is killed in mid-file leaves no file, and the receiver goes on")
  func senderKilled() async throws {
    try await ToolScene.run { scene in
      try await underWay(scene) { sender, receiver in
        sender.send(signal: SIGKILL)
        #expect(await receiver.shows("\"failed\""))
        #expect(visible(scene.into) == [])
        let next = try scene.sender("--to", "Kitchen", try scene.photo("a.jpg"))
        #expect(await next.end() == 0, "\(next.error)")
        #expect(visible(scene.into) == ["a.jpg"])
        receiver.send(signal: SIGTERM)
        #expect(await receiver.end() == 143)
        #expect(receiver.events("failed").first?["exitCode"] as? Int == 5)
      }
    }
  }

  @Test(
    "a sender says at once that its receiver was killed, and ends with 5 if it does not come back; no file is left")
  func receiverKilled() async throws {
    try await ToolScene.run { scene in
      try await underWay(scene, "--timeout", "15") { sender, receiver in
        receiver.send(signal: SIGKILL)
        #expect(await sender.shows("Kitchen can't be reached: waiting for it, for 15 s"), "\(sender.error)")
        // This is the kernel's reset, and no silence.
        #expect(sender.events("suspended").first?["reason"] as? String == "link-failed", "\(sender.output)")
        #expect(await sender.end() == 5, "\(sender.error)")
        #expect(visible(scene.into) == [])
        _ = try await scene.receiver()
        #expect(visible(scene.into) == [])
      }
    }
  }

  @Test("a receiver that is stopped ends the sender when its timeout is over")
  func receiverStopped() async throws {
    try await ToolScene.run { scene in
      try await underWay(scene, "--timeout", "10") { sender, receiver in
        receiver.send(signal: SIGSTOP)
        #expect(await sender.end() == 5, "\(sender.error)")
        receiver.send(signal: SIGCONT)
        #expect(await receiver.shows("\"failed\""))
        #expect(visible(scene.into) == [])
      }
    }
  }

  @Test(
    "a receiver gives a stopped sender up at its timeout, and the sender sends the rest when it goes on"
  )
  func senderStopped() async throws {
    try await ToolScene.run { scene in
      // All of it goes twice, on a machine that may have much else to do.
      try await underWay(scene, size: Self.large / 3) { sender, receiver in
        sender.send(signal: SIGSTOP)
        #expect(await receiver.shows("\"failed\""))
        #expect(visible(scene.into) == [])
        sender.send(signal: SIGCONT)
        #expect(await sender.end(within: .seconds(400)) == 0, "\(sender.error)")
        #expect(sender.error.contains("Kitchen is there: going on"), "\(sender.error)")
        #expect(visible(scene.into) == ["large.jpg"])
      }
    }
  }

  @Test("a file that stands still does not keep the one place of --count 1: another sender's takes it")
  func standsStill() async throws {
    try await ToolScene.run { scene in
      try await underWay(scene, receiving: ["--count", "1", "--timeout", "1"]) { sender, receiver in
        sender.send(signal: SIGSTOP)
        try scene.introduce("Kitchen", as: "Kitchen", to: "another")
        let next = try scene.start(
          "imagesend", ["--json", "--name", "Tablet", "--to", "Kitchen", try scene.photo("a.jpg")], state: "another")
        #expect(await next.end() == 0, "\(next.error)")
        #expect(await receiver.end() == 5, "\(receiver.error)")
        #expect(receiver.events("failed").first?["reason"] as? String == "timed-out")
        #expect(visible(scene.into) == ["a.jpg"])
        sender.send(signal: SIGKILL)
      }
    }
  }

  @Test("SIGINT ends the sender in good order: both sides tell; nothing is left but what the same file goes on with")
  func senderInterrupted() async throws {
    try await ToolScene.run { scene in
      try await underWay(scene) { sender, receiver in
        sender.send(signal: SIGINT)
        #expect(await sender.end() == 130, "\(sender.error)")
        #expect(sender.events("failed").first?["reason"] as? String == "cancelled")
        #expect(sender.events("finished").first?["exitCode"] as? Int == 130)
        #expect(await receiver.shows("\"failed\""))
        #expect(receiver.events("failed").first?["reason"] as? String == "shutting-down")
        #expect(await receiver.shows(": broken off on the other side\n"), "\(receiver.error)")
        #expect(visible(scene.into) == [])
        receiver.send(signal: SIGTERM)
        #expect(await receiver.end() == 143)
        #expect(receiver.events("failed").first?["exitCode"] as? Int == 5)
      }
    }
  }

  @Test(
    "SIGTERM, or SIGHUP as when the terminal is closed, ends the receiver in good order: the sender is told, and nothing is left but what the same file goes on with",
    arguments: [SIGTERM, SIGHUP])
  func receiverInterrupted(by signal: Int32) async throws {
    try await ToolScene.run { scene in
      try await underWay(scene) { sender, receiver in
        receiver.send(signal: signal)
        #expect(await receiver.end() == 128 + signal, "\(receiver.error)")
        #expect(await sender.end() == 5, "\(sender.error)")
        #expect(visible(scene.into) == [])
      }
    }
  }

  @Test("a file that grows while it is sent is a local failure of the sender, and is not stored")
  func growing() async throws {
    try await ToolScene.run { scene in
      // More than a receiver lets come before it has stored the first bytes.
      let path = try scene.sparse("large.jpg", size: 8 << 20)
      let grow: @Sendable ([UInt8]) -> Bool = { _ in
        let file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
        defer { close(file) }
        return write(file, "more", 4) == 4
      }
      try await scene.withNode("Kitchen") { node in
        try await node.setAvailable(true)
        let directory = try await node.receivingDirectory(at: scene.into)
        var offers = node.session.offers.makeAsyncIterator()
        let sender = try scene.sender("--to", "Kitchen", "--fingerprint", node.id.peer.description, path)
        let offer = try #require(await offers.next())
        // The first bytes are here and the rest is not sent: it grows now, and that is noticed once all was read.
        let error = await #expect(throws: PiconetError.self) { try await offer.store(in: directory, content: grow) }
        #expect(error?.code == .sourceChanged)
        #expect(await sender.end() == 6, "\(sender.error)")
        #expect(sender.error.contains("grew"), "\(sender.error)")
      }
      // A node ends only after its disk has thrown the partial file away.
      #expect(entries(scene.into) == [])
    }
  }

  @Test("a file that shrinks while it is sent is a local failure of the sender, and is not stored")
  func shrinking() async throws {
    try await ToolScene.run { scene in
      try await underWay(scene) { sender, receiver in
        #expect(truncate(scene.folder.path + "/large.jpg", 1) == 0)
        #expect(await sender.end() == 6, "\(sender.error)")
        #expect(sender.error.contains("shrank"))
        #expect(await receiver.shows("\"source-changed\""))
        // The receiver tells this before the disk has thrown the partial file away, and ends only after that.
        receiver.send(signal: SIGTERM)
        _ = await receiver.end()
        #expect(entries(scene.into) == [])
      }
    }
  }

  @Test("the directory vanishes: the sender is told and ends with 4, the receiver with 6")
  func directoryVanishes() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver()
      try FileManager.default.removeItem(atPath: scene.into)
      let sender = try scene.sender("--to", "Kitchen", try scene.photo("a.jpg"))
      #expect(await sender.end() == 4, "\(sender.error)")
      #expect(sender.events("failed").first?["reason"] as? String == "directory-vanished")
      #expect(await receiver.shows("\"failed\""), "\(receiver.error)")
      receiver.send(signal: SIGTERM)
      #expect(await receiver.end() == 143)
      #expect(receiver.events("failed").first?["exitCode"] as? Int == 6)
    }
  }

  @Test(
    "a full disk: the sender is told and ends with 4, the receiver with 6, smaller files still fit",
    .enabled(if: geteuid() == 0 && TemporaryFileSystem.isPossible, "only root may mount a small tmpfs"))
  func diskFull() async throws {
    try await ToolScene.run { scene in
      let disk = try TemporaryFileSystem(at: scene.into, megabytes: 2)
      defer { disk.unmount() }
      let receiver = try await scene.receiver()
      let sender = try scene.sender(
        "--to", "Kitchen", try scene.photo("large.jpg", size: 4_000_000), try scene.photo("small.jpg"))
      #expect(await sender.end() == 4, "\(sender.error)")
      #expect(sender.events("failed").first?["reason"] as? String == "disk-full")
      #expect(await receiver.shows("\"failed\""), "\(receiver.error)")
      receiver.send(signal: SIGTERM)
      #expect(await receiver.end() == 143, "\(receiver.error)")
      #expect(receiver.events("failed").first?["exitCode"] as? Int == 6)
      #expect(entries(scene.into) == ["small.jpg"])
    }
  }

  @Test("imagesend reports each file that it can't send, ends with 6, and sends the rest")
  func sources() async throws {
    try await ToolScene.run { scene in
      _ = try await scene.receiver("--any")
      let fifo = scene.folder.path + "/fifo"
      #expect(mkfifo(fifo, 0o600) == 0)
      let locked = try scene.photo("locked.jpg")
      chmod(locked, 0)
      let sender = try scene.sender(
        "--to", "Kitchen", "--any", fifo, scene.folder.path + "/missing.jpg", locked, try scene.photo("a.jpg"))
      #expect(await sender.end() == 6, "\(sender.error)")
      let reasons = sender.events("failed").compactMap { $0["reason"] as? String }
      #expect(reasons == ["not-a-regular-file", "unreadable"] + (geteuid() == 0 ? [] : ["unreadable"]))
      #expect(try scene.received() == (geteuid() == 0 ? ["a.jpg", "locked.jpg"] : ["a.jpg"]))
    }
  }

  @Test("a large file takes neither side's memory", arguments: [300 << 20] + slow([5 << 30]))
  func memory(size: Int64) async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("--count", "1")
      let sender = try scene.sender("--to", "Kitchen", try scene.sparse("large.jpg", size: size))
      #expect(await sender.end(within: .seconds(600)) == 0, "\(sender.error)")
      #expect(await receiver.end() == 0)
      for tool in [sender, receiver] { #expect((1..<64 << 10).contains(tool.peakMemory), "\(tool.peakMemory) KiB") }
      let stored = try FileManager.default.attributesOfItem(atPath: scene.into + "/large.jpg")
      #expect((stored[.size] as? Int64) == size)
    }
  }

  /// Only if PICONET_SLOW_TESTS is 1: it takes half a minute and 5 GiB of disk.
  private static func slow(_ sizes: [Int64]) -> [Int64] {
    isLongRun ? sizes : []
  }
}

/// A small file system of its own.
struct TemporaryFileSystem {
  let path: String

  /// Root in a container may not be allowed to mount.
  static let isPossible: Bool = {
    guard let folder = try? TemporaryFolder(), let disk = try? TemporaryFileSystem(at: folder.path, megabytes: 1) else {
      return false
    }
    disk.unmount()
    return true
  }()

  init(at path: String, megabytes: Int) throws {
    self.path = path
    guard mount("tmpfs", path, "tmpfs", 0, "size=\(megabytes)m") == 0 else { throw POSIXError(.EPERM) }
  }

  func unmount() { umount2(path, 2) }
}
