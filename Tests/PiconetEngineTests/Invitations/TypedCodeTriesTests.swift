import PiconetWire
import Testing

@testable import PiconetEngine

/// Tries in a class, so that an expectation may change them.
private final class Tries {
  private var value = TypedCodeTries()
  var code: TypedCodeID? { value.code }

  func set(_ code: TypedCodeID?) { value.set(code) }
  func begin(_ peer: PeerID, at place: String, _ now: Instant) -> Result<TypedCodeTries.Try, TypedCodeTries.Refusal> {
    value.begin(peer, at: place, now)
  }
  func forgive(_ isMeant: (PeerID) -> Bool) { value.forgive(isMeant) }
  func wasRight(_ done: TypedCodeTries.Try) { value.wasRight(done) }
  func wasWrong(_ done: TypedCodeTries.Try, _ now: Instant) -> Bool { value.wasWrong(done, now) }
}

@Suite("Tries of a typed code are counted")
struct TypedCodeTriesTests {
  private let code = TypedCodeID(rawValue: 1)

  private func tries() -> Tries {
    let tries = Tries()
    tries.set(code)
    return tries
  }

  private func refusal(_ result: Result<TypedCodeTries.Try, TypedCodeTries.Refusal>) -> TypedCodeTries.Refusal? {
    if case .failure(let refusal) = result { refusal } else { nil }
  }

  @Test("three wrong tries over all keys end a code, and only another code gives new ones")
  func over() throws {
    let tries = tries()
    for number in 0..<3 {
      let one = try tries.begin(peer(UInt8(number)), at: "place \(number)", seconds(1_000 * UInt64(number))).get()
      #expect(one.left == 2 - number)
      #expect(tries.wasWrong(one, seconds(1_000 * UInt64(number))) == (number == 2))
    }
    #expect(tries.code == nil)
    #expect(refusal(tries.begin(peer(9), at: "elsewhere", seconds(100_000))) == .over)
    // A code that is over and set again, even the same one, gives new tries.
    tries.set(TypedCodeID(rawValue: 2))
    #expect(try tries.begin(peer(9), at: "elsewhere", seconds(100_000)).get().left == 2)
  }

  @Test("a try counts while it is under way: a fourth peer waits until one is decided")
  func underWay() throws {
    let tries = tries()
    let three = try (0..<3).map { try tries.begin(peer($0), at: "\($0)", seconds(0)).get() }
    #expect(three.map(\.left) == [2, 1, 0])
    #expect(refusal(tries.begin(peer(7), at: "7", seconds(0))) == .busy)
    tries.wasRight(three[0])
    #expect(try tries.begin(peer(7), at: "7", seconds(0)).get().left == 0)
  }

  @Test("a right code gives its try back, however often; a wrong one never does")
  func givenBack() throws {
    let tries = tries()
    for number in 0..<100 {
      tries.wasRight(try tries.begin(peer(UInt8(number)), at: "place", seconds(0)).get())
    }
    let wrong = try tries.begin(peer(200), at: "place", seconds(0)).get()
    #expect(!tries.wasWrong(wrong, seconds(0)))
    // A try is decided once.
    #expect(!tries.wasWrong(wrong, seconds(0)))
    tries.wasRight(wrong)
    #expect(try tries.begin(peer(201), at: "other place", seconds(1_000)).get().left == 1)
  }

  @Test("one key has one try at a time")
  func oneAtATime() throws {
    let tries = tries()
    let first = try tries.begin(peer(1), at: "a", seconds(0)).get()
    #expect(refusal(tries.begin(peer(1), at: "b", seconds(0))) == .busy)
    tries.wasRight(first)
    #expect(refusal(tries.begin(peer(1), at: "b", seconds(0))) == nil)
  }

  @Test("without a code there are no tries, and one that is under way does not count for the next code")
  func changed() throws {
    let tries = tries()
    let old = try tries.begin(peer(1), at: "a", seconds(0)).get()
    tries.set(nil)
    #expect(refusal(tries.begin(peer(2), at: "b", seconds(0))) == .noCode)
    tries.set(TypedCodeID(rawValue: 2))
    #expect(!tries.wasWrong(old, seconds(0)))
    #expect(try tries.begin(peer(3), at: "c", seconds(10)).get().left == 2)
    // For its key and its place it does count.
    #expect(refusal(tries.begin(peer(1), at: "x", seconds(1))) == .wait(.seconds(1)))
    #expect(refusal(tries.begin(peer(4), at: "a", seconds(1))) == .wait(.seconds(1)))
  }

  @Test("the pauses of a key and of a place double, those of the device are shorter, all end at a limit")
  func backOff() throws {
    let tries = tries()
    var now = seconds(0)
    var waits: [Int64] = []
    for number in 1...14 {
      tries.set(TypedCodeID(rawValue: UInt64(number)))
      let one = try tries.begin(peer(1), at: "a", now).get()
      _ = tries.wasWrong(one, now)
      guard case .wait(let wait) = refusal(tries.begin(peer(1), at: "b", now)) else {
        Issue.record("no pause")
        return
      }
      waits.append(wait.components.seconds)
      now = now + wait
    }
    // An hour of quiet takes one wrong code off the count.
    #expect(waits == [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600, 3600])

    let others = self.tries()
    var pauses: [Int64] = []
    now = seconds(0)
    for number in 0..<12 {
      others.set(TypedCodeID(rawValue: UInt64(number) + 1))
      _ = others.wasWrong(try others.begin(peer(UInt8(number)), at: "\(number)", now).get(), now)
      guard case .wait(let wait) = refusal(others.begin(peer(100), at: "honest", now)) else {
        Issue.record("no pause")
        return
      }
      pauses.append(wait.components.seconds)
      now = now + wait
    }
    #expect(pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300])
  }

  @Test("an address waits no longer than five minutes, whatever other keys there did, and a person lifts each pause")
  func household() throws {
    let tries = tries()
    var (last, now) = (seconds(0), seconds(0))
    for number in 1...14 {
      last = now
      tries.set(TypedCodeID(rawValue: UInt64(number)))
      _ = tries.wasWrong(try tries.begin(peer(UInt8(number)), at: "a", now).get(), now)
      guard case .wait(let wait) = refusal(tries.begin(peer(100), at: "a", now)) else {
        Issue.record("no pause")
        return
      }
      #expect(wait <= .seconds(300))
      now = now + wait
    }
    now = last + .seconds(100)
    tries.set(TypedCodeID(rawValue: 100))
    #expect(refusal(tries.begin(peer(14), at: "a", now)) != nil)
    tries.forgive { $0 == peer(14) }
    #expect(refusal(tries.begin(peer(14), at: "a", now)) == nil)
  }

  @Test("a stranger with a key for each try, and new codes at will, has fewer than 310 tries a day")
  func rate() throws {
    let tries = tries()
    var now = seconds(0)
    var begun = 0
    while now < seconds(86_400) {
      tries.set(TypedCodeID(rawValue: UInt64(begun) + 2))
      let name = "\(begun)"
      let key = PeerID(bytes: (0..<32).map { UInt8(truncatingIfNeeded: begun >> (8 * ($0 % 4))) })!
      switch tries.begin(key, at: name, now) {
      case .success(let one):
        begun += 1
        _ = tries.wasWrong(one, now)
      case .failure(.wait(let wait)): now = now + wait
      case .failure(let refusal):
        Issue.record("\(refusal)")
        return
      }
    }
    #expect((280..<310).contains(begun), "\(begun)")
  }

  @Test("the tables are bounded, and the longest pauses stay")
  func bounded() {
    var table = BackOffTable<String>(first: .seconds(5), most: .seconds(3600), forgets: .seconds(3600))
    for _ in 0..<10 { table.add("stubborn", seconds(0)) }
    for number in 0..<1_000 { table.add("key \(number)", seconds(1)) }
    #expect(table.count == BackOffTable<String>.limit)
    #expect(table["stubborn"]?.ends == seconds(2560))
    #expect(table["key 999"] != nil)
  }

  @Test("a pause forgets with time")
  func forgets() {
    var pause = BackOff(first: .seconds(1), most: .seconds(300), forgets: .seconds(600))
    #expect(pause.ends == nil)
    for _ in 0..<4 { pause.add(seconds(0)) }
    #expect(pause.ends == seconds(8))
    pause.add(seconds(1_200))
    #expect(pause.ends == seconds(1_204))
    pause.add(Instant(nanoseconds: .max))
    #expect(pause.ends == Instant(nanoseconds: .max))
  }

  @Test("a code that we have typed is given to three strangers who don't know it, and no further")
  func given() {
    var given = GivenCodeTries()
    for _ in 0..<2 { given.wasWrong(code) }
    #expect(given.allows(code))
    given.wasWrong(code)
    #expect(!given.allows(code) && given.allows(TypedCodeID(rawValue: 2)))
    for number in 2..<UInt64(2 + GivenCodeTries.limit) { given.wasWrong(TypedCodeID(rawValue: number)) }
    #expect(given.allows(code))
    #expect(given.allows(TypedCodeID(rawValue: 2)))
  }
}
