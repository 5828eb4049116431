import Foundation
import Piconet
import Synchronization
import Testing

@testable import MultipeerConnectivity

@Suite("Resources and streams", .serialized, .timeLimit(.minutes(10)))
struct ResourceTests {
  private func pair() async -> (Player, Player) {
    let type = Player.serviceType()
    let (anna, ben) = (Player("Anna", type), Player("Ben", type))
    ben.advertise()
    anna.browse()
    await anna.connects(to: ben)
    return (anna, ben)
  }

  private func file(_ size: Int) throws -> URL {
    let url = FileManager.default.temporaryDirectory.appending(path: "multipeer-\(UUID().uuidString)")
    try Data(repeating: 7, count: size).write(to: url)
    return url
  }

  /// One of zeros that takes no space on the disk.
  private func sparseFile(_ size: UInt64) throws -> URL {
    let url = try file(0)
    let handle = try #require(FileHandle(forWritingAtPath: url.path))
    try handle.truncate(atOffset: size)
    try handle.close()
    return url
  }

  private func send(_ url: URL, _ name: String, from anna: Player, to ben: Player) -> Progress? {
    anna.session.sendResource(at: url, withName: name, toPeer: ben.peer) { error in
      anna.note("sent \(name): \(error.map { ($0 as? MCError).map { "\($0.code)" } ?? "?" } ?? "ok")")
    }
  }

  @Test(
    "files arrive with their name as it is, empty ones too, and their progress ends at all of it",
    arguments: [0, 1, 300_000])
  func files(size: Int) async throws {
    let (anna, ben) = await pair()
    let url = try file(size)
    defer { try? FileManager.default.removeItem(at: url) }
    let kept = URL(filePath: url.path + ".kept")
    defer { try? FileManager.default.removeItem(at: kept) }
    ben.stored = { player, url in
      do { try FileManager.default.moveItem(at: url, to: kept) } catch { player.note("\(error)") }
    }
    let progress = try #require(send(url, "../a/b ü", from: anna, to: ben))
    await anna.sees("sent ../a/b ü: ok")
    #expect(progress.fractionCompleted == 1 && progress.isFinished)
    await ben.sees("Anna ends ../a/b ü: \(size) bytes")
    #expect(ben.transcript.suffix(2) == ["Anna begins ../a/b ü", "Anna ends ../a/b ü: \(size) bytes"])
    #expect(try Data(contentsOf: kept).count == size)
    anna.leave()
    ben.leave()
  }

  @Test("a progress that is cancelled, on either side, ends both with `cancelled`", arguments: [true, false])
  func cancelled(byReceiver: Bool) async throws {
    let (anna, ben) = await pair()
    // It is far from its end when both know of it.
    let url = try sparseFile(1 << 30)
    defer { try? FileManager.default.removeItem(at: url) }
    if byReceiver { ben.progressed = { $1.cancel() } }
    let progress = try #require(send(url, "big", from: anna, to: ben))
    if !byReceiver {
      await ben.sees("Anna begins big")
      progress.cancel()
    }
    await anna.sees("sent big: cancelled")
    await ben.sees("Anna ends big: failed cancelled")
    anna.leave()
    ben.leave()
  }

  @Test("a peer leaves in the middle: both ends are told before the peer is told as not connected")
  func left() async throws {
    let (anna, ben) = await pair()
    let url = try file(60 << 20)
    defer { try? FileManager.default.removeItem(at: url) }
    ben.progressed = { player, _ in player.session.disconnect() }
    _ = send(url, "big", from: anna, to: ben)
    await anna.sees("Ben notConnected")
    await ben.sees("Anna notConnected")
    #expect(anna.transcript.suffix(2).first?.hasPrefix("sent big: ") == true, "\(anna.transcript)")
    #expect(ben.transcript.suffix(3) == ["Anna begins big", "Anna ends big: failed cancelled", "Anna notConnected"])
    anna.leave()
    ben.leave()
  }

  @Test("the handler is told once of a resource that can't be sent, and nil is returned")
  func errors() async throws {
    let (anna, ben) = await pair()
    #expect(send(try #require(URL(string: "ftp://host/file")), "ftp", from: anna, to: ben) == nil)
    await anna.sees("sent ftp: unsupported")
    let stranger = Player("Nobody", "nobody")
    #expect(send(URL(filePath: "/etc/hostname"), "nobody", from: anna, to: stranger) == nil)
    await anna.sees("sent nobody: notConnected")
    #expect(send(URL(filePath: "/nowhere/at/all"), "nowhere", from: anna, to: ben) != nil)
    await anna.sees("sent nowhere: invalidParameter")
    #expect(ben.transcript.last == "Anna connected")
    anna.leave()
    ben.leave()
  }

  @Test("is a part of the progress that is current when it is sent")
  func parent() async throws {
    let (anna, ben) = await pair()
    let url = try file(1_000)
    defer { try? FileManager.default.removeItem(at: url) }
    let parent = Progress(totalUnitCount: 10)
    beginSending(url, within: parent, from: anna, to: ben)
    await anna.sees("sent part: ok")
    #expect(parent.fractionCompleted == 1)
    anna.leave()
    ben.leave()
  }

  private func beginSending(_ url: URL, within parent: Progress, from anna: Player, to ben: Player) {
    parent.becomeCurrent(withPendingUnitCount: 10)
    _ = send(url, "part", from: anna, to: ben)
    parent.resignCurrent()
  }

  @Test("a stream on run loops of both sides carries all bytes, then its end; each event has its cause")
  func streams() async throws {
    let (anna, ben) = await pair()
    let reader = StreamEnd()
    ben.streamed = { player, stream, name in
      reader.run(stream) { reader, event in
        player.note("\(name) \(reader.name(event))")
      }
    }
    let writer = StreamEnd()
    let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    writer.bytes = bytes
    let stream = try anna.session.startStream(withName: "song", toPeer: ben.peer)
    await ben.sees("Anna streams song")
    writer.run(stream) { writer, event in
      anna.note("writer \(writer.name(event))")
    }
    await ben.sees("song end")
    #expect(reader.bytes == bytes)
    let events = ben.transcript.filter { $0.hasPrefix("song ") }
    #expect(events.first == "song open" && Set(events.dropFirst().dropLast()) == ["song bytes"])
    anna.leave()
    ben.leave()
  }

  @Test("a stream whose peer is lost ends with an error on both sides; one that its reader closes, with the end")
  func streamsEnd() async throws {
    let (anna, ben) = await pair()
    let readers = [StreamEnd(), StreamEnd()]
    ben.streamed = { player, stream, name in
      if name == "closed" {
        stream.close()
        return
      }
      readers[0].run(stream) { reader, event in player.note("\(name) \(reader.name(event))") }
    }
    let closed = StreamEnd()
    closed.bytes = [UInt8](repeating: 1, count: 10_000_000)
    closed.run(try anna.session.startStream(withName: "closed", toPeer: ben.peer)) { end, event in
      if event != .hasSpaceAvailable { anna.note("closed \(end.name(event))") }
    }
    await anna.sees("closed end")
    let lost = StreamEnd()
    lost.isKept = true
    lost.run(try anna.session.startStream(withName: "lost", toPeer: ben.peer)) { end, event in
      if event != .hasSpaceAvailable { anna.note("lost \(end.name(event))") }
    }
    await ben.sees("lost open")
    ben.session.disconnect()
    await anna.sees("lost error")
    await ben.sees("lost error")
    anna.leave()
    ben.leave()
  }

  @Test("a stream is read and written without a run loop, by calls that wait")
  func blocking() async throws {
    let (anna, ben) = await pair()
    ben.streamed = { player, stream, _ in
      let end = Blocking(input: stream, output: nil)
      Thread.detachNewThread {
        let bytes = end.readAll()
        player.note("read \(bytes.count) of \(Set(bytes))")
      }
    }
    let end = Blocking(input: nil, output: try anna.session.startStream(withName: "plain", toPeer: ben.peer))
    Thread.detachNewThread { end.write([UInt8](repeating: 3, count: 3_000_000)) }
    await ben.sees("read 3000000 of [3]")
    anna.leave()
    ben.leave()
  }
}

extension ResourceTests {
  @Test("what has come before a stream is opened can be read at once, without waiting for an event")
  func early() async throws {
    let (anna, ben) = await pair()
    let streams = Mutex<[Blocking]>([])
    ben.streamed = { player, stream, name in
      let end = Blocking(input: stream, output: nil)
      streams.withLock { $0.append(end) }
      player.note("has \(name)")
    }
    for round in 0..<5 {
      let output = try anna.session.startStream(withName: "\(round)", toPeer: ben.peer)
      output.open()
      #expect(
        [UInt8](repeating: 7, count: 4_000).withUnsafeBufferPointer { output.write($0.baseAddress!, maxLength: 4_000) }
          == 4_000)
      await ben.sees("has \(round)")
      let last = streams.withLock { $0.last }
      let input = try #require(last?.input as? PeerInputStream)
      while input.state.source?.hasBytesAvailable != true {
        try Task.checkCancellation()
        await Task.yield()
      }
      #expect(!input.hasBytesAvailable)
      input.open()
      var (count, buffer) = (0, [UInt8](repeating: 0, count: 512))
      while input.hasBytesAvailable { count += input.read(&buffer, maxLength: buffer.count) }
      #expect(count == 4_000)
      output.close()
      input.close()
    }
    anna.leave()
    ben.leave()
  }
}

/// Unchecked: one thread has it.
private struct Blocking: @unchecked Sendable {
  let input: InputStream?
  let output: OutputStream?

  func readAll() -> [UInt8] {
    guard let input else { return [] }
    input.open()
    var (all, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 10_000))
    while case let count = input.read(&buffer, maxLength: buffer.count), count > 0 { all += buffer.prefix(count) }
    input.close()
    return all
  }

  func write(_ bytes: [UInt8]) {
    guard let output else { return }
    output.open()
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBufferPointer { rest in
        rest.baseAddress.map { output.write($0, maxLength: rest.count) } ?? 0
      }
      if count <= 0 { return }
      rest = rest.dropFirst(count)
    }
    output.close()
  }
}

/// One end of a stream, on a thread with a run loop of its own, as programs use it.
///
/// Unchecked: its thread has it, and the test after that has ended.
final class StreamEnd: NSObject, StreamDelegate, @unchecked Sendable {
  /// What was read, or is to be written.
  var bytes: [UInt8] = []
  /// Whether it stays open when all is written.
  var isKept = false
  private var written = 0
  private var isOver = false
  private var told: ((StreamEnd, Stream.Event) -> Void)?
  private var stream: Stream?

  func run(_ stream: Stream, told: @escaping @Sendable (StreamEnd, Stream.Event) -> Void) {
    self.told = told
    self.stream = stream
    Thread.detachNewThread { [self] in
      guard let stream = self.stream else { return }
      stream.delegate = self
      stream.schedule(in: .current, forMode: .default)
      stream.open()
      // A run loop with nothing to wait for returns at once.
      let timer = Timer(timeInterval: 3_600, repeats: true) { _ in }
      RunLoop.current.add(timer, forMode: .default)
      while !isOver, RunLoop.current.run(mode: .default, before: .distantFuture) {}
      timer.invalidate()
      stream.close()
      self.stream = nil
    }
  }

  func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
    switch (eventCode, aStream) {
    case (.hasBytesAvailable, let input as InputStream):
      var buffer = [UInt8](repeating: 0, count: 10_000)
      let count = input.read(&buffer, maxLength: buffer.count)
      #expect(count > 0)
      bytes += buffer.prefix(max(0, count))
    case (.hasSpaceAvailable, let output as OutputStream):
      guard written < bytes.count else {
        if !isKept { isOver = true }
        return
      }
      let count = bytes[written...].withUnsafeBufferPointer { rest in
        rest.baseAddress.map { output.write($0, maxLength: rest.count) } ?? 0
      }
      #expect(count > 0)
      written += max(0, count)
    case (.endEncountered, _), (.errorOccurred, _): isOver = true
    default: break
    }
    told?(self, eventCode)
  }

  func name(_ event: Stream.Event) -> String {
    switch event {
    case .openCompleted: "open"
    case .hasBytesAvailable: "bytes"
    case .hasSpaceAvailable: "space"
    case .endEncountered: "end"
    case .errorOccurred: "error"
    default: "?"
    }
  }
}
