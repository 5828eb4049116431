import Foundation
import Synchronization
import Testing

@testable import PiconetHTTP

@Suite("Fetching a URL", .timeLimit(.minutes(15)))
struct HTTPFetchTests {
  private func withServer(
    _ script: @escaping SmallServer.Script, _ body: (SmallServer) async throws -> Void
  ) async throws {
    let server = try SmallServer(script)
    defer { server.close() }
    try await body(server)
  }

  /// Fetches to the end and closes.
  private func fetch(
    _ url: String, _ change: (inout HTTPSettings) -> Void = { _ in }
  ) async throws -> (head: Result<HTTPFetch.Head, HTTPFailure>, end: Result<UInt64, HTTPFailure>, bytes: [UInt8]) {
    var settings = HTTPSettings()
    change(&settings)
    let fetch = try HTTPFetch(url, settings)
    defer { fetch.close() }
    let head = await fetch.head()
    let end = await fetch.whole()
    guard case .success(let count) = end else { return (head, end, []) }
    return (head, end, try read(fetch, 0, Int(count)))
  }

  /// Why it can't be fetched.
  private func ending(_ url: String, _ change: (inout HTTPSettings) -> Void = { _ in }) async throws -> HTTPFailure
    .Code?
  {
    code(try await fetch(url, change).end)
  }

  private func read(_ fetch: HTTPFetch, _ offset: UInt64, _ count: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let result = bytes.withUnsafeMutableBytes { buffer in
      Result { () throws(HTTPFailure) in try fetch.read(into: buffer, at: offset) }
    }
    try result.get()
    return bytes
  }

  private func code<Value>(_ result: Result<Value, HTTPFailure>) -> HTTPFailure.Code? {
    if case .failure(let failure) = result { return failure.code }
    return nil
  }

  private static func answer(_ body: String, _ header: String = "") -> String {
    "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\(header)Connection: close\r\n\r\n\(body)"
  }

  @Test("size, media type and bytes are those of the server")
  func whole() async throws {
    let body = String(repeating: "abcdefg", count: 30_000)
    try await withServer({ _, say, _ in say(Self.answer(body, "Content-Type: image/png\r\n")) }) { server in
      let result = try await fetch(server.address + "/a/b.png?x=1#y")
      #expect(try result.head.get() == HTTPFetch.Head(size: UInt64(body.utf8.count), mediaType: "image/png"))
      #expect(result.bytes == Array(body.utf8))
      #expect(server.paths == ["/a/b.png?x=1"])
    }
  }

  @Test("what has arrived can be read while the rest is on its way")
  func arriving() async throws {
    let script: SmallServer.Script = { _, say, wait in
      say("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst")
      wait()
      say("later")
    }
    try await withServer(script) { server in
      let fetch = try HTTPFetch(server.address + "/x", HTTPSettings())
      defer { fetch.close() }
      #expect(try await fetch.head().get().size == 10)
      await withCheckedContinuation { continuation in fetch.whenAvailable(upTo: 5, for: fetch) { continuation.resume() }
      }
      #expect(try read(fetch, 0, 5) == Array("first".utf8))
      #expect(fetch.end == nil)
      #expect(throws: HTTPFailure.self) { try read(fetch, 4, 2) }
      let order = Mutex<[Int]>([])
      await withCheckedContinuation { continuation in
        fetch.whenAvailable(upTo: 6, for: fetch) { order.withLock { $0.append(6) } }
        fetch.whenAvailable(upTo: 10, for: fetch) {
          order.withLock { $0.append(10) }
          continuation.resume()
        }
        server.open()
      }
      #expect(order.withLock { $0 } == [6, 10])
      #expect(try read(fetch, 3, 7) == Array("stlater".utf8))
      #expect(try await fetch.whole().get() == 10)
    }
  }

  @Test("each reader's calls are answered in their order, and no reader waits for what another has asked for")
  func readers() async throws {
    let script: SmallServer.Script = { _, say, wait in
      say("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst")
      wait()
      say("later")
    }
    final class Reader: Sendable {}
    try await withServer(script) { server in
      let fetch = try HTTPFetch(server.address + "/x", HTTPSettings())
      defer { fetch.close() }
      let (ahead, behind) = (Reader(), Reader())
      let order = Mutex<[String]>([])
      await withCheckedContinuation { continuation in
        fetch.whenAvailable(upTo: 10, for: ahead) { order.withLock { $0.append("ahead") } }
        // Its bytes are there, but not those that it asked for before.
        fetch.whenAvailable(upTo: 1, for: ahead) {
          order.withLock { $0.append("ahead, again") }
          continuation.resume()
        }
        fetch.whenAvailable(upTo: 5, for: behind) {
          order.withLock { $0.append("behind") }
          server.open()
        }
      }
      #expect(order.withLock { $0 } == ["behind", "ahead", "ahead, again"])
    }
  }

  @Test("what is asked for while an earlier call is being answered is answered after it")
  func askedMeanwhile() async throws {
    let script: SmallServer.Script = { _, say, wait in
      wait()
      say("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirstlater")
    }
    try await withServer(script) { server in
      let fetch = try HTTPFetch(server.address + "/x", HTTPSettings())
      defer { fetch.close() }
      let order = Mutex<[Int]>([])
      await withCheckedContinuation { continuation in
        fetch.whenAvailable(upTo: 5, for: fetch) {
          // Its bytes are here by now, and so are those of the next call, which another thread could make here.
          fetch.whenAvailable(upTo: 4, for: fetch) {
            order.withLock { $0.append(2) }
            continuation.resume()
          }
          order.withLock { $0.append(1) }
        }
        server.open()
      }
      #expect(order.withLock { $0 } == [1, 2])
    }
  }

  @Test("a server that does not say how long it is: the size is known at the end")
  func chunked() async throws {
    let script: SmallServer.Script = { _, say, _ in
      say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n")
    }
    try await withServer(script) { server in
      let result = try await fetch(server.address)
      #expect(try result.head.get().size == nil)
      #expect(result.bytes == Array("hello world".utf8))
    }
  }

  @Test("an empty body is a body")
  func empty() async throws {
    try await withServer({ _, say, _ in say(Self.answer("")) }) { server in
      let result = try await fetch(server.address)
      #expect(try result.head.get().size == 0)
      #expect(try result.end.get() == 0)
    }
  }

  @Test("a status of 400 or above is reported, and its body is not taken", arguments: [400, 404, 500, 503])
  func status(number: Int) async throws {
    try await withServer({ _, say, _ in say("HTTP/1.1 \(number) No\r\nContent-Length: 4\r\n\r\noops") }) { server in
      let result = try await fetch(server.address + "/missing")
      #expect(code(result.head) == .status(number))
      #expect(code(result.end) == .status(number))
      if case .failure(let failure) = result.end { #expect(failure.description.contains("\(number)")) }
    }
  }

  @Test("redirects are followed, within their limit")
  func redirects() async throws {
    let script: SmallServer.Script = { path, say, _ in
      let number = Int(path.dropFirst()) ?? 0
      say(
        number == 0
          ? Self.answer("there")
          : "HTTP/1.1 302 Found\r\nLocation: /\(number - 1)\r\nContent-Length: 3\r\nConnection: close\r\n\r\nno\n")
    }
    try await withServer(script) { server in
      #expect(try await fetch(server.address + "/5").bytes == Array("there".utf8))
      let beyond = try await ending(server.address + "/6")
      #expect(beyond == .tooManyRedirects)
      let none = try await ending(server.address + "/1") { $0.redirectLimit = 0 }
      #expect(none == .tooManyRedirects)
    }
  }

  @Test(
    "a redirect to a file of this machine, or to anything but http, is not followed",
    arguments: ["file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1/x"])
  func forbiddenRedirect(place: String) async throws {
    let script: SmallServer.Script = { _, say, _ in
      say("HTTP/1.1 302 Found\r\nLocation: \(place)\r\nContent-Length: 0\r\n\r\n")
    }
    try await withServer(script) { server in
      let why = try await ending(server.address)
      #expect(why == .forbiddenRedirect)
    }
  }

  @Test(
    "only http and https, and what a URL may have",
    arguments: ["file:///etc/passwd", "ftp://x/y", "HTTPS", "", "http://a b", "http://a\nb", "dict://127.0.0.1"])
  func otherURLs(url: String) throws {
    #expect(throws: HTTPFailure.self) { try HTTPAddress(url) }
    #expect(throws: HTTPFailure.self) { try HTTPFetch(url, HTTPSettings()) }
  }

  @Test("a server that hangs up before the end, or at once")
  func cutOff() async throws {
    try await withServer({ _, say, _ in say("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort") }) { server in
      let result = try await fetch(server.address)
      #expect(try result.head.get().size == 100)
      #expect(code(result.end) == .cutOff)
    }
    try await withServer({ _, _, _ in }) { server in
      let why = try await ending(server.address)
      #expect(why == .cutOff)
    }
  }

  @Test("a server that says nothing more is given up after the stall timeout")
  func stalled() async throws {
    let script: SmallServer.Script = { _, say, wait in
      say("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort")
      wait()
    }
    try await withServer(script) { server in
      let stalled = try await ending(server.address) { $0.stallTimeoutSeconds = 1 }
      #expect(stalled == .timedOut)
    }
  }

  @Test("a cancelled fetch ends, whatever it waits for, and so does the wait for it")
  func cancelled() async throws {
    for hasBegun in [false, true] {
      let script: SmallServer.Script = { _, say, wait in
        if hasBegun { say("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort") }
        wait()
      }
      try await withServer(script) { server in
        let fetch = try HTTPFetch(server.address, HTTPSettings())
        if hasBegun { _ = await fetch.head() }
        let isCalled = Mutex(false)
        fetch.whenAvailable(upTo: 100, for: fetch) { isCalled.withLock { $0 = true } }
        fetch.cancel()
        #expect(code(await fetch.whole()) == .cancelled)
        fetch.close()
        #expect(isCalled.withLock { $0 })
      }
    }
  }

  @Test("a file larger than the limit is not taken, whether its size is announced or not")
  func sizeLimit() async throws {
    try await withServer({ _, say, _ in say(Self.answer("12345678901")) }) { server in
      let announced = try await ending(server.address) { $0.sizeLimit = 10 }
      #expect(announced == .tooLarge(limit: 10))
      let whole = try await fetch(server.address) { $0.sizeLimit = 11 }
      #expect(whole.bytes.count == 11)
    }
    let endless: SmallServer.Script = { _, say, _ in
      say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
      for _ in 0..<100 { say("5\r\nhello\r\n") }
    }
    try await withServer(endless) { server in
      let endlessly = try await ending(server.address) { $0.sizeLimit = 10 }
      #expect(endlessly == .tooLarge(limit: 10))
    }
  }

  @Test(
    "a fetch of unstated and endless length is given up at the limit for such, which is named")
  func endless() async throws {
    let script: SmallServer.Script = { _, say, _ in
      say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
      for _ in 0..<100 { say("5\r\nhello\r\n") }
    }
    try await withServer(script) { server in
      let end = try await fetch(server.address) { $0.unannouncedSizeLimit = 300 }.end
      #expect(code(end) == .tooLarge(limit: 300))
      if case .failure(let failure) = end { #expect(failure.description.contains("limit of 300 bytes")) }
    }
    // If the server states the size, only the receiver's limit applies.
    try await withServer({ _, say, _ in say(Self.answer("12345678901")) }) { server in
      let whole = try await fetch(server.address) { $0.unannouncedSizeLimit = 10 }
      #expect(whole.bytes.count == 11)
    }
  }

  @Test("no more is fetched ahead of what was asked for than the limit; then the server waits until more is asked for")
  func heldBack() async throws {
    let body = String(repeating: "0123456789abcdef", count: 200_000)
    // The most that libcurl hands over at once.
    let part: UInt64 = 16_384
    try await withServer({ _, say, _ in say(Self.answer(body)) }) { server in
      var settings = HTTPSettings()
      settings.aheadLimit = 100_000
      let fetch = try HTTPFetch(server.address, settings)
      defer { fetch.close() }
      #expect(try await fetch.head().get().size == UInt64(body.utf8.count))
      for wanted in [0, 1_000_000, 2_000_000] as [UInt64] {
        await withCheckedContinuation { continuation in
          fetch.whenAvailable(upTo: wanted, for: fetch) { continuation.resume() }
        }
        while !fetch.arrived.isHeldBack { await Task.yield() }
        let count = fetch.arrived.count
        #expect(wanted + 100_000 <= count && count < wanted + 100_000 + part, "\(count)")
      }
      #expect(try await fetch.whole().get() == UInt64(body.utf8.count))
      #expect(try read(fetch, 0, body.utf8.count) == Array(body.utf8))
    }
  }

  @Test("a fetch that is held back can be cancelled")
  func cancelledWhileHeldBack() async throws {
    let body = String(repeating: "x", count: 1_000_000)
    try await withServer({ _, say, _ in say(Self.answer(body)) }) { server in
      var settings = HTTPSettings()
      settings.aheadLimit = 1
      let fetch = try HTTPFetch(server.address, settings)
      while !fetch.arrived.isHeldBack { await Task.yield() }
      fetch.close()
      #expect(code(await fetch.whole()) == .cancelled)
    }
  }

  @Test("an address without a listener is unreachable")
  func unreachable() async throws {
    let server = try SmallServer { _, _, _ in }
    let gone = server.address
    server.close()
    // The listener is closed by its own thread.
    let why = try await ending(gone)
    #expect(why == .unreachable || why == .cutOff)
  }

  @Test("a server whose certificate the system does not trust is refused")
  func certificate() async throws {
    let server = try SecureServer()
    defer { server.close() }
    let why = try await ending("https://127.0.0.1:\(server.port)/secret")
    #expect(why == .certificate)
  }

  @Test("a folder that can't hold the file is reported before anything is fetched")
  func spool() throws {
    var settings = HTTPSettings()
    settings.spoolFolder = "/nowhere"
    #expect(throws: HTTPFailure.self) { try HTTPFetch("http://127.0.0.1:1/", settings) }
  }
}
