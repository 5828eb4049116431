import Testing

@testable import PiconetEngine

@Suite("How often a stranger may ask")
struct CodeTriesTests {
  private let start = seconds(1_000)

  @Test("pauses of a key double with each refusal, up to five minutes, and others have none")
  func pauses() {
    var tries = CodeTries()
    var now = start
    for expected in [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300] {
      tries.refused(peer(1), at: "a\(now.nanoseconds)", now)
      #expect(tries.refusal(peer(1), at: "elsewhere", now) == .pause(.seconds(expected)))
      #expect(tries.refusal(peer(2), at: "elsewhere", now) == nil)
      now = now + .seconds(expected)
      #expect(tries.refusal(peer(1), at: "elsewhere", now) == nil)
    }
  }

  @Test("an address has three refusals without a pause, whatever the keys, and none after that")
  func address() {
    var tries = CodeTries()
    for byte: UInt8 in 1...3 { tries.refused(peer(byte), at: "a", start) }
    #expect(tries.refusal(peer(9), at: "a", start) == nil)
    tries.refused(peer(4), at: "a", start)
    #expect(tries.refusal(peer(9), at: "a", start) == .pause(.seconds(1)))
    #expect(tries.refusal(peer(9), at: "b", start) == nil)
  }

  @Test("three wrong codes of a key end it for an hour, at each address", arguments: [true, false])
  func blocked(byKey: Bool) {
    var tries = CodeTries()
    func key(_ number: UInt8) -> UInt8 { byKey ? 1 : number }
    func place(_ number: UInt8) -> String { byKey ? "\(number)" : "a" }
    let answer1 = tries.wrongCode(peer(key(1)), at: place(1), start)
    #expect(!answer1)
    let answer2 = tries.wrongCode(peer(key(2)), at: place(2), start)
    #expect(!answer2)
    #expect(tries.blocked(peer(key(9)), at: place(9), start) == nil)
    let answer3 = tries.wrongCode(peer(key(3)), at: place(3), start + .seconds(60))
    #expect(answer3)
    #expect(tries.refusal(peer(key(9)), at: place(9), start + .seconds(60)) == .wrongCodes(.seconds(3_600)))
    #expect(tries.blocked(peer(key(9)), at: place(9), start + .seconds(3_659)) == .wrongCodes(.seconds(1)))
    #expect(tries.blocked(peer(key(9)), at: place(9), start + .seconds(3_660)) == nil)
    #expect(tries.refusal(peer(99), at: "other", start + .seconds(60)) == nil)
  }

  @Test("wrong codes that are an hour apart are no row")
  func apart() {
    var tries = CodeTries()
    for hour in 0..<5 {
      let answer4 = tries.wrongCode(peer(1), at: "a", start + .seconds(3_600 * hour))
      #expect(!answer4)
    }
  }

  @Test("ten wrong codes of as many keys at as many addresses end it for all strangers, until the first is an hour old")
  func device() {
    var tries = CodeTries()
    for number: UInt8 in 0..<10 {
      #expect(tries.refusal(peer(200), at: "new", start + .seconds(Int(number))) == nil)
      _ = tries.wrongCode(peer(number), at: "\(number)", start + .seconds(Int(number)))
    }
    let now = start + .seconds(10)
    #expect(tries.refusal(peer(200), at: "new", now) == .wrongCodesOfAll(.seconds(3_590)))
    // A peer whose code nobody compares can't get one wrong.
    #expect(tries.refusal(peer(200), at: "new", comparesCodes: false, now) == nil)
    // Our own invitations are what somebody here wants.
    #expect(tries.blocked(peer(200), at: "new", now) == nil)
    #expect(tries.refusal(peer(200), at: "new", start + .seconds(3_600)) == nil)
  }

  @Test("codes under way count as wrong ones of their key and address until they are over", arguments: [true, false])
  func underWay(byKey: Bool) {
    var tries = CodeTries()
    func key(_ number: UInt8) -> UInt8 { byKey ? 1 : number }
    func place(_ number: UInt8) -> String { byKey ? "\(number)" : "a" }
    _ = tries.wrongCode(peer(key(1)), at: place(1), start)
    let now = start + .seconds(60)
    tries.began(CodeID(rawValue: 1), peer(key(2)), at: place(2))
    #expect(tries.refusal(peer(key(9)), at: place(9), now) == nil)
    tries.began(CodeID(rawValue: 2), peer(key(3)), at: place(3))
    #expect(tries.refusal(peer(key(9)), at: place(9), now) == .underWay)
    #expect(tries.refusal(peer(key(9)), at: place(9), comparesCodes: false, now) == nil)
    #expect(tries.refusal(peer(99), at: "other", now) == nil)
    // After an hour the wrong code is forgotten, and leaves a try for another.
    #expect(tries.refusal(peer(key(9)), at: place(9), start + .seconds(3_600)) == nil)
    tries.ended(CodeID(rawValue: 1))
    #expect(tries.refusal(peer(key(9)), at: place(9), now) == nil)
  }

  @Test("codes that are under way count among the ten of all strangers")
  func underWayOfAll() {
    var tries = CodeTries()
    for number: UInt8 in 0..<4 { _ = tries.wrongCode(peer(number), at: "\(number)", start) }
    for number: UInt8 in 4..<10 {
      #expect(tries.refusal(peer(200), at: "new", start) == nil)
      tries.began(CodeID(rawValue: UInt64(number)), peer(number), at: "\(number)")
    }
    #expect(tries.refusal(peer(200), at: "new", start) == .underWayOfAll)
    #expect(tries.refusal(peer(200), at: "new", comparesCodes: false, start) == nil)
    tries.ended(CodeID(rawValue: 7))
    #expect(tries.refusal(peer(200), at: "new", start) == nil)
  }

  @Test("the same code on both screens clears the key, not the address")
  func matched() {
    var tries = CodeTries()
    for _ in 0..<3 { _ = tries.wrongCode(peer(1), at: "a", start) }
    tries.matched(peer(1))
    #expect(tries.refusal(peer(1), at: "b", start) == nil)
    #expect(tries.refusal(peer(1), at: "a", start) == .wrongCodes(.seconds(3_600)))
  }

  @Test("keys and addresses without end take no more room, and new ones share what is left")
  func bounded() {
    var tries = CodeTries()
    tries.limits.subjects = 20
    tries.limits.wrongCodesOfAll = 1_000_000
    for number in 0..<200 {
      _ = tries.wrongCode(peer(UInt8(number)), at: "\(number)", start)
      #expect(tries.count <= 21)
    }
    // A peer without an account of its own counts as one of the others.
    #expect(tries.refusal(peer(250), at: "new", start) == .wrongCodes(.seconds(3_600)))
    // After an hour's rest there is room again.
    let later = start + .seconds(3_600)
    let answer5 = tries.wrongCode(peer(250), at: "new", later)
    #expect(!answer5)
    #expect(tries.count == 2)
    #expect(tries.refusal(peer(251), at: "newer", later) == nil)
  }
}
