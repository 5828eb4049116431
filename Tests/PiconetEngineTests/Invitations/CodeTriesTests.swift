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

  @Test("three codes of a key that differed end it for an hour at each address, and no other key there")
  func blockedKey() {
    var tries = CodeTries()
    for number in 0..<3 {
      #expect(tries.blocked(peer(1), at: "a", start) == nil)
      let block = tries.failed(peer(1), at: "a", isWrong: true, start + .seconds(30 * number))
      #expect(block == (number == 2 ? .key(3) : nil))
    }
    let now = start + .seconds(60)
    #expect(tries.refusal(peer(1), at: "b", now) == .wrongCodes(.seconds(3_600)))
    #expect(tries.blocked(peer(1), at: "a", start + .seconds(3_659)) == .wrongCodes(.seconds(1)))
    #expect(tries.blocked(peer(1), at: "a", start + .seconds(3_660)) == nil)
    // A household: its other devices are listened to, and may get codes wrong themselves.
    #expect(tries.refusal(peer(2), at: "a", now) == nil)
    let wrong = tries.failed(peer(2), at: "a", isWrong: true, now)
    #expect(wrong == nil && tries.blocked(peer(2), at: "a", now) == nil)
  }

  @Test("five attempts of a key that broke off end it, and codes that differed count among them")
  func brokenOff() {
    for wrong in [0, 2] {
      var tries = CodeTries()
      for number in 0..<5 {
        #expect(tries.blocked(peer(1), at: "a", start) == nil, "\(number)")
        let block = tries.failed(peer(1), at: "a", isWrong: number < wrong, start)
        #expect(block == (number == 4 ? .key(5) : nil))
      }
      #expect(tries.blocked(peer(1), at: "b", start) == .wrongCodes(.seconds(3_600)))
    }
  }

  @Test("a stranger with a new key for each try gets seven from one address, and leaves three to all others")
  func blockedAddress() {
    for isWrong in [true, false] {
      var tries = CodeTries()
      for number: UInt8 in 1...7 {
        #expect(tries.blocked(peer(99), at: "a", start) == nil)
        let block = tries.failed(peer(number), at: "a", isWrong: isWrong, start)
        #expect(block == (number == 7 ? .address(7) : nil))
      }
      #expect(tries.refusal(peer(99), at: "a", start) == .wrongCodesOfAddress(.seconds(3_600)))
      for number: UInt8 in 100..<103 {
        #expect(tries.refusal(peer(number), at: "b\(number)", start) == nil)
        _ = tries.failed(peer(number), at: "b\(number)", isWrong: isWrong, start)
      }
      #expect(tries.refusal(peer(200), at: "new", start) == .wrongCodesOfAll(.seconds(3_600)))
    }
  }

  @Test("a stranger with a new key and address for each try compares ten codes an hour at most, all day long")
  func guesses() {
    var tries = CodeTries()
    var compared: [Int] = []
    for second in stride(from: 0, to: 86_400, by: 20) {
      let (now, number) = (start + .seconds(second), UInt8(second / 20 % 251))
      if tries.refusal(peer(number), at: "\(second)", now) != nil { continue }
      compared.append(second)
      _ = tries.failed(peer(number), at: "\(second)", isWrong: second % 40 == 0, now)
    }
    for first in compared { #expect(compared.count { $0 >= first && $0 < first + 3_600 } <= 10) }
    #expect(compared.count >= 200, "and each hour has its ten")
  }

  @Test("forgiven tries count no longer: for the key, its address and all strangers; other keys' tries stay")
  func forgiven() {
    var tries = CodeTries()
    for _ in 0..<5 { _ = tries.failed(peer(1), at: "a", isWrong: false, start) }
    for number: UInt8 in 2...3 { _ = tries.failed(peer(number), at: "a", isWrong: true, start) }
    for number: UInt8 in 4...6 { _ = tries.failed(peer(number), at: "b", isWrong: true, start) }
    #expect(tries.refusal(peer(9), at: "c", start) == .wrongCodesOfAll(.seconds(3_600)))
    tries.forgive { $0 == peer(1) }
    #expect(tries.countOfAll == 5)
    #expect(tries.refusal(peer(1), at: "a", start) == nil)
    #expect(tries.refusal(peer(2), at: "c", start) == .pause(.seconds(1)))
    for _ in 0..<5 { _ = tries.failed(peer(1), at: "a", isWrong: false, start) }
    #expect(tries.blocked(peer(1), at: "c", start) != nil)
    tries.forgiveAll()
    #expect(tries.count == 0 && tries.countOfAll == 0)
    for number: UInt8 in 1...6 { #expect(tries.refusal(peer(number), at: "a", start) == nil) }
  }

  @Test("wrong codes that are an hour apart are no row")
  func apart() {
    var tries = CodeTries()
    for hour in 0..<9 {
      let block = tries.failed(peer(1), at: "a", isWrong: true, start + .seconds(3_600 * hour))
      #expect(block == nil)
    }
  }

  @Test("ten wrong codes of as many keys at as many addresses end it for all strangers, until the first is an hour old")
  func device() {
    var tries = CodeTries()
    for number: UInt8 in 0..<10 {
      #expect(tries.refusal(peer(200), at: "new", start + .seconds(Int(number))) == nil)
      let block = tries.failed(
        peer(number), at: "\(number)", isWrong: number % 2 == 0, start + .seconds(Int(number)))
      #expect(block == (number == 9 ? .all(10, .seconds(3_591)) : nil))
    }
    let now = start + .seconds(10)
    #expect(tries.refusal(peer(200), at: "new", now) == .wrongCodesOfAll(.seconds(3_590)))
    // A peer that compares no code can't get one wrong.
    #expect(tries.refusal(peer(200), at: "new", comparesCodes: false, now) == nil)
    // Our own invitations are not limited: the user here wants them.
    #expect(tries.blocked(peer(200), at: "new", now) == nil)
    #expect(tries.refusal(peer(200), at: "new", start + .seconds(3_600)) == nil)
  }

  @Test("codes under way count as wrong ones of their key and address until they are over", arguments: [true, false])
  func underWay(byKey: Bool) {
    var tries = CodeTries()
    func key(_ number: UInt8) -> UInt8 { byKey ? 1 : number }
    func place(_ number: UInt8) -> String { byKey ? "\(number)" : "a" }
    _ = tries.failed(peer(key(1)), at: place(1), isWrong: true, start)
    let now = start + .seconds(60)
    let left: UInt8 = byKey ? 2 : 6
    for number in 1...left {
      #expect(tries.refusal(peer(key(99)), at: place(99), now) == nil)
      tries.began(CodeID(rawValue: UInt64(number)), peer(key(number + 1)), at: place(number + 1))
    }
    #expect(tries.refusal(peer(key(99)), at: place(99), now) == .underWay)
    #expect(tries.refusal(peer(key(99)), at: place(99), comparesCodes: false, now) == nil)
    #expect(tries.refusal(peer(98), at: "other", now) == nil)
    // After an hour the wrong code is forgotten, and leaves a try for another.
    #expect(tries.refusal(peer(key(99)), at: place(99), start + .seconds(3_600)) == nil)
    tries.ended(CodeID(rawValue: 1))
    #expect(tries.refusal(peer(key(99)), at: place(99), now) == nil)
  }

  @Test("codes that are under way count among the ten of all strangers")
  func underWayOfAll() {
    var tries = CodeTries()
    for number: UInt8 in 0..<4 { _ = tries.failed(peer(number), at: "\(number)", isWrong: true, start) }
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
    for number: UInt8 in [1, 1, 1, 1, 2, 3, 4] { _ = tries.failed(peer(number), at: "a", isWrong: false, start) }
    tries.matched(peer(1))
    #expect(tries.refusal(peer(1), at: "b", start) == nil)
    #expect(tries.refusal(peer(1), at: "a", start) == .wrongCodesOfAddress(.seconds(3_600)))
  }

  @Test("keys and addresses without end take no more room, and new ones share what is left")
  func bounded() {
    var tries = CodeTries()
    tries.limits.subjects = 20
    tries.limits.triesOfAll = 1_000_000
    for number in 0..<200 {
      _ = tries.failed(peer(UInt8(number)), at: "\(number)", isWrong: true, start)
      #expect(tries.count <= 21)
    }
    // A peer without an account of its own counts as one of the others.
    #expect(tries.refusal(peer(250), at: "new", start) == .wrongCodesOfAddress(.seconds(3_600)))
    // After an hour's rest there is room again.
    let later = start + .seconds(3_600)
    let block = tries.failed(peer(250), at: "new", isWrong: true, later)
    #expect(block == nil)
    #expect(tries.count == 2)
    #expect(tries.refusal(peer(251), at: "newer", later) == nil)
  }
}
