import Foundation
import Glibc
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("imagerecv as people keep it running")
struct ServiceTests {
  @Test(
    "a service reads its configuration, stores among the pictures, says when it is ready, and its history has what came"
  )
  func service() async throws {
    try await ToolScene.run { scene in
      try scene.folder.write(
        ".config/piconet/imagerecv.conf", Array("name = Attic\naccept = known\n".utf8))
      try scene.folder.write(".config/user-dirs.dirs", Array("XDG_PICTURES_DIR=\"$HOME/Bilder\"\n".utf8))
      let pictures = try scene.folder.folder("Bilder")
      try await scene.trust("add", "Phone", try await scene.fingerprint("sender"), state: "Attic")
      try await scene.trust("allow", "Phone", "push", state: "Attic")
      try scene.introduce("Attic", as: "Attic", to: "sender")
      let socket = try NoticeSocket(scene.folder.path + "/notify")
      let service = try scene.start(
        "imagerecv", ["--service"], state: "Attic", variables: ["NOTIFY_SOCKET": scene.folder.path + "/notify"])
      #expect(await service.shows("Receiving as 'Attic' into \(pictures)"), "\(service.error)")
      #expect(socket.receive() == "READY=1\nSTATUS=Receiving as Attic")
      let sender = try scene.sender("--to", "Attic", try scene.photo("a.jpg"))
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(try scene.received(pictures) == ["a.jpg"])
      #expect(await service.shows("\(pictures)/a.jpg\n"), "\(service.error)")
      service.send(signal: SIGTERM)
      #expect(await service.end() == 143)
      let history = try scene.start("imagerecv", ["--history"], state: "Attic")
      #expect(await history.end() == 0, "\(history.error)")
      #expect(history.output.hasSuffix("  100 kB  \(pictures)/a.jpg\n"), "\(history.output)")
      #expect(history.output.contains("  Phone ("), "\(history.output)")
    }
  }

  @Test("the command line counts more than the file, and --no-config passes it over; what is wrong in it ends with 2")
  func configuration() async throws {
    try await ToolScene.run { scene in
      let file = ".config/piconet/imagerecv.conf"
      try scene.folder.write(file, Array("name = Attic\n".utf8))
      let named = try scene.start("imagerecv", ["--name", "Hall"], state: "x")
      #expect(await named.shows("Receiving as 'Hall'"), "\(named.error)")
      let plain = try scene.start("imagerecv", [], state: "y")
      #expect(await plain.shows("Receiving as 'Attic'"), "\(plain.error)")
      try scene.folder.write(file, Array("nme = Attic\n".utf8))
      let wrong = try scene.start("imagerecv", [], state: "z")
      #expect(await wrong.end() == 2)
      #expect(wrong.error.contains("imagerecv.conf:1: 'nme' is no option"), "\(wrong.error)")
      let without = try scene.start("imagerecv", ["--no-config", "--name", "Loft"], state: "z")
      #expect(await without.shows("Receiving as 'Loft'"), "\(without.error)")
    }
  }

  @Test("systemd's unit lets it make the calls by which it confines itself: any other would end it")
  func unit() throws {
    let path = ToolScene.samples + "/../Package/imagerecv.service"
    let filter = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
      .filter { $0.hasPrefix("SystemCallFilter=") }
    try #require(filter.count == 1)
    let calls = Set(filter[0].dropFirst("SystemCallFilter=".count).split(separator: " "))
    // Debian 12's systemd has no group for these.
    #expect(calls.isSuperset(of: ["landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"]))
  }

  @Test("a receiver that is visible for a time ends with 0 after that time if no device sends")
  func visible() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("--visible", "100ms", json: false)
      #expect(await receiver.shows("can't find this device any more"), "\(receiver.error)")
      #expect(await receiver.end() == 0, "\(receiver.error)")
    }
  }
}

/// What a service manager listens on.
private final class NoticeSocket {
  private let descriptor: Int32

  init(_ path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    try withUnsafeMutableBytes(of: &name.sun_path) { room in
      try #require(path.utf8.count < room.count)
      room.copyBytes(from: Array(path.utf8))
    }
    let descriptor = descriptor
    let bound = withUnsafePointer(to: &name) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(bound == 0)
  }

  deinit { close(descriptor) }

  /// Call it once the notice must have come.
  func receive() -> String {
    var buffer = [UInt8](repeating: 0, count: 1_024)
    var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&wait, 1, 30_000) == 1 else { return "" }
    let count = recv(descriptor, &buffer, buffer.count, 0)
    return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
  }
}
