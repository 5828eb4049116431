import PiconetEngine
import PiconetWire
import Testing

@testable import Piconet

@Suite("What happens in a session, read by several", .timeLimit(.minutes(15)))
struct SessionLogTests {
  @Test(
    "each reader gets all of its kinds, in order, from where it began; nothing is lost between readers that come and go"
  )
  func readers() {
    for seed in 1...2_000 as ClosedRange<UInt64> {
      var play = Play(seed: seed)
      play.run()
      if let fault = play.fault {
        Issue.record("seed \(seed): \(fault)")
        return
      }
    }
  }

  @Test(
    "unread unreliable messages above a window for each member are dropped; reading them makes room for more"
  )
  func window() {
    let log = SessionLog(window: 100, messageLimit: 10_000)
    let ann = membership(1)
    for _ in 0..<20 { log.push(MessageBatch(from: ann, [[1]], .unreliable, cost: 30)) }
    #expect(log.cost == 90)
    log.push(MessageBatch(from: membership(2), [[1]], .unreliable, cost: 30))
    #expect(log.cost == 120)
    let reader = SessionLog.Reader(kinds: .messages)
    log.attach(reader)
    var batch: MessageBatch?
    while case .messages(let next) = log.next(for: reader, after: batch).entry { batch = next }
    #expect(log.cost == 0)
    log.push(MessageBatch(from: ann, [[1]], .unreliable, cost: 30))
    #expect(log.cost == 30)
  }

  @Test(
    "excess messages of former members are dropped, oldest first, but never those that a member waits for")
  func leftBehind() {
    let log = SessionLog(window: 100, messageLimit: 250)
    let members = (1...4).map { membership(UInt8($0)) }
    for member in members { log.push(MessageBatch(from: member, [[1]], .reliable, cost: 80)) }
    // All of them are members: credit bounds what they send.
    #expect(log.cost == 320)
    let reader = SessionLog.Reader(kinds: .messages)
    log.attach(reader)
    let held = log.next(for: reader, after: nil).entry
    for member in members.prefix(2) { member.end(PiconetError(.left, blame: .peer)) }
    log.push(MessageBatch(from: members[3], [[2]], .reliable, cost: 10))
    #expect(log.cost == 250)
    // The batch that the reader held was taken back meanwhile; it goes on with the next and skips none.
    guard case .messages(let batch) = held else {
      Issue.record("no batch")
      return
    }
    var senders: [UInt8] = []
    var last: MessageBatch? = batch
    while case .messages(let next) = log.next(for: reader, after: last).entry {
      senders.append(next.sender.proven.id.peer.bytes[0])
      last = next
    }
    #expect(senders == [2, 3, 4, 4])
  }

  @Test(
    "a reader of one channel gets its messages alone, and holds up no other; a reader of all gets them in order")
  func channels() {
    let log = SessionLog(window: 100, messageLimit: 10_000)
    let ann = membership(1)
    func push(_ number: UInt8, in channel: MessageChannel) {
      log.push(MessageBatch(from: ann, [[number]], .reliable, in: channel, cost: 10))
    }
    func numbers(_ reader: SessionLog.Reader) -> [UInt8] {
      var numbers: [UInt8] = []
      var last: MessageBatch?
      while case .messages(let next) = log.next(for: reader, after: last).entry {
        numbers += next.messages.flatMap { Array($0) }
        last = next
      }
      return numbers
    }
    push(1, in: 3)
    let third = SessionLog.Reader(kinds: .messages, channel: 3)
    log.attach(third)
    push(2, in: 0)
    push(3, in: 3)
    push(4, in: 5)
    #expect(numbers(third) == [1, 3])
    // Messages of other channels wait for a reader.
    #expect(log.cost == 20)
    let all = SessionLog.Reader(kinds: .messages)
    log.attach(all)
    push(5, in: 3)
    push(6, in: 63)
    #expect(numbers(all) == [2, 4, 5, 6])
    // The message in channel 3 waits for its other reader.
    #expect(log.cost == 10)
    #expect(numbers(third) == [5])
    #expect(log.cost == 0)
    let none = SessionLog.Reader(kinds: .messages, channel: 0)
    log.attach(none)
    push(7, in: 1)
    #expect(numbers(none) == [])
    #expect(log.detach(third).isEmpty && log.detach(none).isEmpty)
    #expect(numbers(all) == [7])
  }

  @Test("at most 4,096 changes wait, and the oldest go")
  func changes() {
    let log = SessionLog(window: 100, messageLimit: 1_000)
    let ann = membership(1)
    for _ in 0..<5_000 { log.push(ann, .joined) }
    log.finish()
    let reader = SessionLog.Reader(kinds: .all)
    log.attach(reader)
    var count = 0
    while case .change = log.next(for: reader, after: nil).entry { count += 1 }
    #expect(count == 4_096)
  }
}

private func membership(_ number: UInt8) -> Membership {
  let node = NodeID(
    peer: PeerID(bytes: [number] + [UInt8](repeating: 0, count: 31))!, incarnation: Incarnation(rawValue: 1))
  let peer = ProvenPeer(
    node: node, name: "Ann", traits: LinkTraits(kind: .simulated, remoteAddress: ""),
    association: AssociationID(high: 0, low: 0), isKnown: false, messageLimit: 1_000)
  return Membership(
    ProvenMember(peer, KnownPeersJudge.Standing()), over: MemberRoute(peer.traits), budgets: MessageBudgets(limit: 10))
}

/// Changes and messages, numbered in sequence, and readers of all kinds or of one, which come, read and go at random.
private struct Play {
  private struct Reader {
    let reader: SessionLog.Reader
    var kinds: SessionLog.Kinds { reader.kinds }
    var batch: MessageBatch?
    var position = 0
    /// The numbers of what it has got.
    var got: [Int] = []
  }

  private let log = SessionLog(window: 1 << 20, messageLimit: 1 << 30)
  private let ann = membership(1)
  private var random: SeededRandom
  private var kinds: [SessionLog.Kinds] = []
  private var readers: [Reader] = []
  private var read: Set<Int> = []
  private var credit = 0
  private(set) var fault: String?

  init(seed: UInt64) { random = SeededRandom(seed: seed) }

  private mutating func draw(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }

  mutating func run() {
    for _ in 0..<200 where fault == nil { step() }
    while !readers.isEmpty { end(readers.count - 1) }
    // Two readers that come after all others both get what is still unread.
    readers = [Reader(reader: SessionLog.Reader(kinds: .all)), Reader(reader: SessionLog.Reader(kinds: .all))]
    for reader in readers { log.attach(reader.reader) }
    while fault == nil, advance(0) {}
    while fault == nil, advance(1) {}
    expect(readers[0].got == readers[1].got, "two readers got \(readers[0].got) and \(readers[1].got)")
    expect(read.count == kinds.count, "\(kinds.count - read.count) were lost")
    expect(log.cost == 0 && credit == kinds.count { $0 == .messages }, "credit of \(credit), \(log.cost) is kept")
  }

  private mutating func step() {
    switch draw(8) {
    case 0, 1:
      push(.changes)
    case 2, 3:
      let count = 1 + draw(3)
      let first = kinds.count
      kinds += Array(repeating: .messages, count: count)
      let messages = (first..<first + count).map { [UInt8($0 >> 8), UInt8($0 & 0xFF)][...] }
      log.push(MessageBatch(from: ann, messages, .reliable, cost: count))
    case 4 where readers.count < 3:
      let reader = Reader(reader: SessionLog.Reader(kinds: [.all, .changes, .messages][draw(3)]))
      log.attach(reader.reader)
      readers.append(reader)
    case 5 where draw(4) == 0 && !readers.isEmpty: end(draw(readers.count))
    default: if !readers.isEmpty { _ = advance(draw(readers.count)) }
    }
  }

  private mutating func push(_ kind: SessionLog.Kinds) {
    // A change carries its number as a code.
    log.push(ann, .left(PiconetError(.init(rawValue: "\(kinds.count)"), blame: .peer)))
    kinds.append(kind)
  }

  private mutating func end(_ index: Int) {
    let reader = readers.remove(at: index)
    for batch in log.detach(reader.reader, holding: reader.batch, at: reader.position) { credit += batch.cost }
  }

  /// - Returns: false if there is nothing for it.
  private mutating func advance(_ index: Int) -> Bool {
    if let batch = readers[index].batch, readers[index].position < batch.messages.count {
      let bytes = Array(batch.messages[readers[index].position])
      readers[index].position += 1
      got(Int(bytes[0]) << 8 | Int(bytes[1]), index)
      return true
    }
    let (isDone, entry) = log.next(for: readers[index].reader, after: readers[index].batch)
    if isDone { credit += readers[index].batch?.cost ?? 0 }
    readers[index].batch = nil
    switch entry {
    case nil: return false
    case .messages(let batch):
      readers[index].batch = batch
      readers[index].position = batch.position
    case .change(let change):
      guard case .left(let error) = change.kind, let number = Int(error.code.rawValue) else { return false }
      got(number, index)
    case .offer, .stream: fault = "neither offers nor streams were pushed"
    }
    return true
  }

  /// Numbers come in the order in which things happened, and without a gap within one kind: of a kind that others have
  /// read before, a reader gets what is still kept.
  private mutating func got(_ number: Int, _ index: Int) {
    let reader = readers[index]
    let kind = kinds[number]
    expect(reader.kinds.contains(kind), "a reader got what it does not read")
    expect(reader.got.last.map { $0 < number } ?? true, "\(number) came after \(reader.got.last ?? 0)")
    if let last = reader.got.last(where: { kinds[$0] == kind }) {
      expect(!kinds[(last + 1)..<number].contains(kind), "a reader got \(last) and then \(number) of one kind")
    }
    readers[index].got.append(number)
    read.insert(number)
  }

  private mutating func expect(_ isTrue: Bool, _ words: String) {
    if !isTrue, fault == nil { fault = words }
  }
}
