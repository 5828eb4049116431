import PiconetEngine
import PiconetWire
import Testing

@testable import Piconet

@Suite("What has come of a stream")
struct StreamBufferTests {
  private let told = Watched<[Int]>([])
  private let buffer: StreamBuffer
  private let error = PiconetError(.left, blame: .peer)

  init() throws {
    let peer = try #require(PeerID(bytes: [UInt8](repeating: 1, count: PeerID.byteCount)))
    let told = told
    buffer = StreamBuffer(sender: NodeID(peer: peer, incarnation: Incarnation(rawValue: 1))) { count in
      told.update { $0.append(count) }
    }
  }

  private func read(_ count: Int = .max) async -> String {
    switch await buffer.read(upTo: count, isolation: nil) {
    case .bytes(let bytes): "\(Array(bytes))"
    case .end: "end"
    case .failed(let error): "\(error.code)"
    }
  }

  @Test("pieces join, a limited read takes a part, and what was read is told when nothing is left")
  func parts() async {
    buffer.push([1, 2])
    buffer.push([3])
    #expect(await read(2) == "[1, 2]")
    #expect(told.value.isEmpty)
    buffer.push([4])
    #expect(await read() == "[3, 4]")
    #expect(told.value == [4])
  }

  @Test("a reader of small parts tells of them together, long before the window is read")
  func together() async {
    buffer.push([UInt8](repeating: 7, count: 100_000)[...])
    for _ in 0..<66 { _ = await read(500) }
    #expect(told.value == [33_000])
    #expect(buffer.count == 67_000)
  }

  @Test("while one waits, another gets an error, and no byte of the first")
  func waiting() async {
    await withTaskGroup(of: String.self) { group in
      for _ in 0..<2 { group.addTask { await read(2) } }
      #expect(await group.next() == "inProgress")
      buffer.push([5, 6])
      #expect(await group.next() == "[5, 6]")
    }
    #expect(told.value.reduce(0, +) == 2)
  }

  @Test("the first iteration has the bytes until it is gone")
  func iterations() {
    var first: StreamBuffer.Reader? = StreamBuffer.Reader()
    let second = StreamBuffer.Reader()
    #expect(first.map(buffer.claim) == true && !buffer.claim(second))
    first = nil
    #expect(buffer.claim(second))
  }

  @Test("a reader that does not wait gets the buffered bytes and the end, and nothing that another reader waits for")
  func withoutWaiting() async {
    if case .some = buffer.readNow(upTo: 1) { Issue.record("something came of nothing") }
    #expect(!buffer.hasBytes)
    buffer.push([1, 2])
    #expect(buffer.hasBytes)
    guard case .bytes([1])? = buffer.readNow(upTo: 1), case .bytes([2])? = buffer.readNow(upTo: 5) else {
      Issue.record("not what was pushed")
      return
    }
    #expect(told.value == [2] && !buffer.hasBytes)
    buffer.end(.finished)
    guard case .end? = buffer.readNow(upTo: 1) else {
      Issue.record("no end")
      return
    }
    #expect(told.value == [2] && buffer.isOver)
  }

  @Test("the end comes behind what waits; that of a stream without a byte is told, too")
  func end() async {
    buffer.end(.finished)
    #expect(told.value.isEmpty)
    #expect(await read() == "end")
    #expect(await read() == "end")
    #expect(told.value == [0])
  }

  @Test("a loss comes behind what waits, and nothing after it counts")
  func loss() async {
    buffer.push([1])
    buffer.end(.lost(error))
    buffer.end(.finished)
    buffer.push([2])
    #expect(await read() == "[1]")
    #expect(await read() == "left")
    #expect(buffer.isOver)
  }

  @Test("a stream that its writer gives up is void, also behind its end")
  func void() async {
    buffer.push([1])
    buffer.end(.finished)
    buffer.end(.void(PiconetError(.cancelled, blame: .peer)))
    #expect(await read() == "cancelled")
    #expect(buffer.count == 0)
  }

  @Test("a cancelled reader takes nothing")
  func cancelled() async {
    let reading = Task { await read() }
    reading.cancel()
    #expect(await reading.value == "cancelled")
    buffer.push([1])
    #expect(await read() == "[1]")
  }
}
