import Foundation
import Glibc
import Testing

@testable import PiconetCommandLine

@Suite("imagesend with URLs")
struct URLTests {
  /// Answers one HTTP request on 127.0.0.1.
  /// - Returns: the port.
  private func serve(_ content: [UInt8], status: String = "200 OK") throws -> UInt16 {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(listener, pointer, length) == 0 && listen(listener, 1) == 0 && getsockname(listener, pointer, &length) == 0
      }
    }
    try #require(isBound)
    let answer = Array("HTTP/1.1 \(status)\r\nContent-Length: \(content.count)\r\n\r\n".utf8) + content
    Thread.detachNewThread {
      let connection = accept(listener, nil, nil)
      var request: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 4096)
      while request.suffix(4) != Array("\r\n\r\n".utf8) {
        let count = recv(connection, &buffer, buffer.count, 0)
        guard count > 0 else { break }
        request += buffer.prefix(count)
      }
      var done = 0
      while done < answer.count {
        let count = answer[done...].withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard count > 0 else { break }
        done += count
      }
      close(connection)
      close(listener)
    }
    return UInt16(bigEndian: address.sin_port)
  }

  @Test("what a server gives is stored under its name, beside a file of this machine")
  func stored() async throws {
    try await ToolScene.run { scene in
      _ = try await scene.receiver()
      let photo = try scene.photo("a.jpg", size: 3_000_000)
      let content = Array(try Data(contentsOf: URL(filePath: photo)))
      let url = "http://127.0.0.1:\(try serve(content))/photos/b%20c.jpg"
      let sender = try scene.sender("--to", "Kitchen", url, photo)
      #expect(await sender.end() == 0, "\(sender.error)")
      #expect(
        sender.events("offered").contains { $0["file"] as? String == url && $0["bytes"] as? Int == content.count })
      #expect(try scene.received() == ["a.jpg", "b c.jpg"])
      #expect(try scene.isSame(photo, scene.into + "/b c.jpg"))
    }
  }

  @Test("with --on-conflict skip a file that is stored already is success, and another of the name is skipped with 6")
  func skip() async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("--on-conflict", "skip")
      let photo = try scene.photo("a.jpg", size: 300_000)
      let content = Array(try Data(contentsOf: URL(filePath: photo)))
      for (sent, status, outcome) in [
        (content, 0, "stored"), (content, 0, "present"), (content.dropLast() + [(content.last ?? 0) ^ 1], 6, "skipped"),
        (content + [0], 6, "skipped"),
      ] as [([UInt8], Int32, String)] {
        let url = "http://127.0.0.1:\(try serve(sent))/b.jpg"
        let sender = try scene.sender("--to", "Kitchen", url)
        #expect(await sender.end() == status, "\(sender.error)")
        #expect(sender.events(outcome).count == 1, "\(outcome): \(sender.events())")
        #expect(try scene.received() == ["b.jpg"] && scene.isSame(photo, scene.into + "/b.jpg"))
      }
      for outcome in ["present", "skipped"] { #expect(await receiver.shows("\"\(outcome)\""), "\(receiver.error)") }
    }
  }

  @Test("what a server does not give is a failure of the sender, and the rest is sent")
  func failed() async throws {
    try await ToolScene.run { scene in
      _ = try await scene.receiver()
      let url = "http://127.0.0.1:\(try serve([], status: "404 Not Found"))/missing.jpg"
      let sender = try scene.sender("--to", "Kitchen", url, try scene.photo("a.jpg"))
      #expect(await sender.end() == 6, "\(sender.error)")
      #expect(sender.error.contains("404"))
      #expect(sender.events("failed").first?["reason"] as? String == "source-unreadable")
      #expect(try scene.received() == ["a.jpg"])
    }
  }

  @Test("imagesend ends with 2 at an invalid URL before it searches for a peer, and says what is wrong")
  func badURLs() async throws {
    let wrong = [
      ("http://", "the host is missing"), ("https:///a.jpg", "the host is missing"),
      ("http://127.0.0.1:0/a.jpg", "the port must be a number from 1 to 65535"),
      ("http://127.0.0.1:http/a.jpg", "the port must be a number from 1 to 65535"),
      ("http://::1/a.jpg", "an IPv6 address must be in brackets"),
      ("http://[::1/a.jpg", "the bracket of the IPv6 address is not closed"),
      ("http://example.invalid/a b.jpg", "an address has no blanks; write %20"),
      ("http://example.invalid/", "the URL's path does not end with the name of a file"),
      ("ftp://example.invalid/a.jpg", "'ftp' is not fetched, http and https are"),
    ]
    try await ToolScene.run { scene in
      let sender = try scene.start(
        "imagesend", ["--json", "--to", "Nobody", "--timeout", "80"] + wrong.map(\.0), state: "sender")
      #expect(await sender.end() == 2, "\(sender.error)")
      for (url, why) in wrong { #expect(sender.error.contains("imagesend: \(url): \(why)"), "\(sender.error)") }
      #expect(sender.events("failed").map { $0["file"] as? String } == wrong.map(\.0))
      #expect(sender.events("failed").allSatisfy { $0["reason"] as? String == "invalid-argument" })
      #expect(!sender.error.contains("was found within"), "nobody was looked for")
    }
  }
}
