import CPiconetSystem
import Foundation
import Glibc
import TestSupport
import Testing

@testable import PiconetCommandLine

/// See Tools/BluetoothVM/disks.
@Suite("Photos onto cards and sticks", .serialized, .machine("--adapters 0 --no-daemon --disks"))
struct CardToolTests {
  /// The disks that the kernel mounts for the user at the machine. `Tools/test --all` adds those over FUSE and those of
  /// another user.
  private static let kinds = isLongRun ? Card.all : Card.all.filter { ["vfat", "exfat", "ntfs3"].contains($0) }
  /// Of a photo that takes a while: an emulated processor encrypts it.
  private static let size: Int64 = 6 << 20
  /// For a program that finds, connects to and sends to another: its machine reads both from the host, which may be
  /// busy, and its clock goes on meanwhile.
  private static let timeout = 240

  @Test(
    "they arrive byte for byte, a taken name is numbered, and one that the card does not take is offered again",
    arguments: kinds)
  func stored(kind: String) async throws {
    let card = try Card(kind)
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver(into: card.path)
      let photo = try scene.photo("a.jpg")
      func send(_ path: String) async throws -> ToolProcess {
        let sender = try scene.sender("--to", "Kitchen", "--timeout", "\(Self.timeout)", path)
        #expect(await sender.end(within: .seconds(Self.timeout + 60)) == 0, "\(sender.error)")
        return sender
      }
      _ = try await send(photo)
      try card.forget()
      #expect(try scene.isSame(photo, card.path("a.jpg")))
      let other = try scene.photo("A.JPG")
      _ = try await send(other)
      let isOneName = access(card.path("a.JPG"), F_OK) == 0
      #expect(try scene.isSame(other, card.path(isOneName ? "A (2).JPG" : "A.JPG")))
      let oddPhoto = try scene.photo("12:30.jpg")
      let odd = try await send(oddPhoto)
      #expect(
        odd.error.contains("offered as '12_30.jpg', since the receiver's disk does not take its name"), "\(odd.error)")
      #expect(try scene.isSame(oddPhoto, card.path("12_30.jpg")))
      receiver.send(signal: SIGTERM)
      #expect(await receiver.end() != nil)
      // It was stored under its other name, so it has not failed.
      #expect(receiver.events("failed").isEmpty, "\(receiver.output)")
      #expect(!receiver.error.contains("failed"), "\(receiver.error)")
      #expect(try card.names().count == 3)
    }
  }

  @Test(
    "one that fills up in mid-transfer: both sides say so, nothing is left, and with room the same command goes through",
    arguments: kinds)
  func full(kind: String) async throws {
    let card = try Card(kind)
    try await ToolScene.run { scene in
      let isFull = !card.setsSpaceAside
      try card.fill(allBut: UInt64(Self.size) + (4 << 20))
      let photo = try scene.sparse("film.jpg", size: Self.size)
      let receiver = try await scene.receiver(into: card.path)
      let sender = try scene.sender("--to", "Kitchen", photo)
      #expect(await receiver.shows("\"progress\""), "\(receiver.error)")
      sender.send(signal: SIGSTOP)
      try card.fill(allBut: 0)
      sender.send(signal: SIGCONT)
      let status = await sender.end()
      // Where space can be set aside the file has its own, and all may be well, if its name has room, too.
      #expect(status == 4 || !isFull && status == 0, "\(sender.error)")
      if status != 0 {
        #expect(sender.events("failed").first?["reason"] as? String == "disk-full", "\(sender.output)")
        #expect(await receiver.shows("the disk is full: "), "\(receiver.error)")
        #expect(try card.names() == ["filler"])
      }
      try FileManager.default.removeItem(atPath: card.path("filler"))
      let again = try scene.sender("--to", "Kitchen", photo)
      #expect(await again.end() == 0, "\(again.error)")
      #expect(try scene.isSame(photo, card.path("film.jpg")))
    }
  }

  @Test("a receiver that is killed in mid-file goes on where it was", arguments: kinds)
  func killed(kind: String) async throws {
    let card = try Card(kind)
    try await ToolScene.run { scene in
      let photo = try scene.sparse("film.jpg", size: Self.size)
      let first = try await scene.receiver(into: card.path)
      // One that is gone is waited for as long as that.
      let sender = try scene.sender("--to", "Kitchen", "--timeout", "5", photo)
      let hasSome = await first.shows { output in
        output.matches(of: /"done":(\d+)/).last.flatMap { Int($0.1) }.map { $0 >= 2 << 20 } ?? false
      }
      try #require(hasSome, "\(first.error)")
      first.send(signal: SIGKILL)
      #expect(await first.end() == 137)
      #expect(await sender.end() == 5, "\(sender.error)")
      try card.forget()
      _ = try await scene.receiver(into: card.path)
      let again = try scene.sender("--to", "Kitchen", photo)
      #expect(await again.end() == 0, "\(again.error)")
      let resumed = again.events("stored").first?["resumedFrom"] as? Int
      #expect(resumed ?? 0 >= 1 << 20, "\(again.output)")
      #expect(try scene.isSame(photo, card.path("film.jpg")))
      #expect(try card.names() == ["film.jpg"])
    }
  }
}

extension Card {
  /// Whether space can be set aside for a file that is to come.
  fileprivate var setsSpaceAside: Bool {
    let file = open(path("probe"), O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
    defer {
      close(file)
      unlink(path("probe"))
    }
    return piconet_fallocate(file, PICONET_FALLOC_FL_KEEP_SIZE, 0, 1 << 20) == 0
  }
}
