import Testing

@testable import PiconetCalls

@Suite("The calls between two members")
struct PeerCallsTests {
  static func calls(_ limits: CallLimits = .usual, instance: UInt64 = 1) -> PeerCalls {
    PeerCalls(instance: instance, own: limits)
  }

  static func call(_ number: UInt64, milliseconds: UInt64 = 1_000, arguments: [UInt8] = [0x80]) -> [UInt8] {
    CallFrame.call(
      .init(
        number: number, path: "/", interface: "i", version: 1, method: "m", milliseconds: milliseconds,
        arguments: arguments[...])
    ).encoded
  }

  static let value = CBORValue.unsigned(1).encoded[...]

  @Test("the texts of an address are read once for the calls to it, of the last few addresses of a member")
  func addresses() throws {
    var calls = Self.calls()
    var number: UInt64 = 0
    func address(_ method: String) throws -> CallAddress {
      number += 1
      let call = CallFrame.Call(
        number: number, path: "/lamp", interface: "org.example.lamp", version: 3, method: method, milliseconds: 9,
        arguments: [0x80])
      guard case .serve(let served)? = calls.received(CallFrame.call(call).encoded[...], at: .zero).first else {
        throw CallFailure(.refused, "it is not served")
      }
      #expect(served == call)
      return served.address
    }
    let first = try address("turnOn")
    let other = try address("turnOff")
    #expect(first !== other)
    #expect(try address("turnOn") === first)
    #expect(try address("turnOff") === other)
    // One that another begins with is another one.
    #expect(try address("turn") !== first)
    for count in 0..<8 { _ = try address("m\(count)") }
    #expect(try address("turnOn") !== first, "as many as there are names would be kept")
  }

  @Test("a call is the same frame, whether its arguments are in an array or one behind the other")
  func frameOfACall() {
    var arguments = CBORWriter()
    arguments.text("Code ")
    arguments.unsigned(7)
    let frame = CallFrame.Call.encoded(
      number: 1 << 40, path: "/a", interface: "i", version: 2, method: "m", milliseconds: 70_000,
      arguments: arguments, count: 2)
    let call = CallFrame.Call(
      number: 1 << 40, path: "/a", interface: "i", version: 2, method: "m", milliseconds: 70_000,
      arguments: CBORValue.array([.text("Code "), .unsigned(7)]).encoded[...])
    #expect(frame == CallFrame.call(call).encoded)
  }

  @Test("an answer settles its call, once")
  func answer() throws {
    var calls = Self.calls()
    try calls.begin(5, Self.call(5), until: .seconds(1))
    let result = CallFrame.result(number: 5, value: Self.value).encoded[...]
    #expect(calls.received(result, at: .zero) == [.settle(5, .value(Self.value))])
    #expect(calls.received(result, at: .zero) == [])
    #expect(calls.cancel(5) == [])
    #expect(calls.nextDeadline == nil)
  }

  @Test("a call that is taken back is settled, its callee told, and a crossing answer passed over")
  func cancellation() throws {
    var calls = Self.calls()
    try calls.begin(5, Self.call(5), until: .seconds(1))
    let effects = calls.cancel(5)
    #expect(effects.first == .send(CallFrame.cancel(number: 5).encoded))
    #expect(effects.count == 2)
    #expect(calls.received(CallFrame.result(number: 5, value: Self.value).encoded[...], at: .zero) == [])
  }

  @Test("taking back a long call goes in the channel of the call, behind it")
  func cancellationOfALongCall() throws {
    var calls = Self.calls()
    let frame = Self.call(5, arguments: CBORValue.array([.bytes([UInt8](repeating: 1, count: 20_000))]).encoded)
    #expect(PeerCalls.isLong(frame))
    try calls.begin(5, frame, until: .seconds(1))
    #expect(calls.cancel(5).first == .send(CallFrame.cancel(number: 5).encoded, isLong: true))
  }

  @Test("a deadline ends a call on both sides, by each side's own clock")
  func deadline() throws {
    var calls = Self.calls()
    try calls.begin(5, Self.call(5), until: .seconds(1))
    #expect(calls.received(Self.call(9, milliseconds: 500)[...], at: .zero).count == 1)
    #expect(calls.nextDeadline == .milliseconds(500))
    let theirs = calls.expired(at: .milliseconds(500))
    #expect(theirs.last == .stop(9))
    #expect(calls.nextDeadline == .seconds(1))
    guard case .settle(5, .failed(let failure))? = calls.expired(at: .seconds(1)).last else {
      Issue.record("it is not settled")
      return
    }
    #expect(failure.code == .timedOut)
    #expect(calls.finished(9, with: .value(Self.value)) == nil, "it comes too late")
    #expect(calls.servedCount == 0)
  }

  @Test("calls above the limit are refused, on the side that makes them and on the side that takes them")
  func tooMany() throws {
    var calls = Self.calls(CallLimits(frame: 65_536, calls: 16))
    for number in 1...16 { try calls.begin(UInt64(number), Self.call(1), until: .seconds(1)) }
    #expect { try calls.begin(17, Self.call(1), until: .seconds(1)) } throws: {
      ($0 as? CallFailure)?.code == .tooManyCalls
    }
    for number in 1...16 { #expect(calls.received(Self.call(UInt64(number))[...], at: .zero).count == 1) }
    guard case .send(let frame, _)? = calls.received(Self.call(17)[...], at: .zero).first,
      case .failure(17, let failure) = try CallFrame(decoding: frame[...])
    else {
      Issue.record("it is not refused")
      return
    }
    #expect(failure.code == .tooManyCalls)
    #expect(calls.servedCount == 16)
    // A task that goes on after its call was taken back keeps its place until it ends.
    #expect(calls.received(CallFrame.cancel(number: 3).encoded[...], at: .zero) == [.stop(3)])
    #expect(calls.servedCount == 16)
    _ = calls.finished(3, with: .value(Self.value))
    #expect(calls.servedCount == 15)
  }

  @Test("a call that is too large for the other side fails at once, with both numbers")
  func tooLarge() throws {
    var calls = Self.calls()
    let large = CBORValue.array([.bytes([UInt8](repeating: 0, count: 70_000))]).encoded
    _ = calls.received(CallFrame.hello(.init(instance: 2, limits: .least, asks: false)).encoded[...], at: .zero)
    #expect { try calls.begin(1, Self.call(1, arguments: large), until: .seconds(1)) } throws: {
      guard let failure = $0 as? CallFailure else { return false }
      return failure.code == .tooLarge && failure.text.contains("70") && failure.text.contains("65536")
    }
    _ = calls.received(Self.call(2)[...], at: .zero)
    let answer = calls.finished(2, with: .value(large[...]))
    let reply = try #require(answer)
    guard case .failure(2, let failure) = try CallFrame(decoding: reply.frame[...]) else {
      Issue.record("the result is sent")
      return
    }
    #expect(failure.code == .tooLarge && reply.failure == failure)
  }

  @Test("a greeting says what the member takes, is answered if it asks, and a new system's ends the calls to the old")
  func greeting() throws {
    var calls = Self.calls()
    func hello(_ instance: UInt64, asks: Bool) -> ArraySlice<UInt8> {
      CallFrame.hello(.init(instance: instance, limits: CallLimits(frame: 100_000, calls: 20), asks: asks)).encoded[...]
    }
    #expect(calls.received(hello(2, asks: true), at: .zero).count == 2)
    #expect(calls.limits == CallLimits(frame: 100_000, calls: 20))
    try calls.begin(1, Self.call(1), until: .seconds(1))
    _ = calls.received(Self.call(7)[...], at: .zero)
    #expect(calls.received(hello(2, asks: false), at: .zero) == [], "the same again ends nothing")
    #expect(calls.outgoingCount == 1)
    let effects = calls.received(hello(3, asks: false), at: .zero)
    guard case .settle(1, .failed(let failure))? = effects.first else {
      Issue.record("it is not settled")
      return
    }
    #expect(failure.code == .restarted)
    #expect(effects.contains(.stop(7)))
    try calls.begin(2, Self.call(2), until: .seconds(1))
  }

  @Test("version 0 of the format breaks it, a later one than ours is answered in ours")
  func versions() throws {
    for version in [0, 1, 2, .max] as [UInt64] {
      var calls = Self.calls()
      let hello = CallFrame.hello(.init(instance: 2, limits: .usual, asks: true, version: version)).encoded
      let effects = calls.received(hello[...], at: .zero)
      guard case .send(let frame, _)? = effects.first else {
        Issue.record("version \(version) has no answer")
        return
      }
      switch try CallFrame(decoding: frame[...]) {
      case .hello(let answer): #expect(version > 0 && answer.version == 1 && !answer.asks)
      case .goodbye(let code, _): #expect(version == 0 && code == .protocolBroken)
      default: Issue.record("version \(version) is answered otherwise")
      }
    }
  }

  @Test("answers and cancellations of calls that are another member's, over or never made, change nothing")
  func foreignNumbers() throws {
    var calls = Self.calls()
    try calls.begin(5, Self.call(5), until: .seconds(1))
    _ = calls.received(Self.call(7)[...], at: .zero)
    let foreign: [CallFrame] = [
      .result(number: 7, value: Self.value), .failure(number: 6, CallFailure(.thrown, "")), .cancel(number: 5),
      .cancel(number: .max),
    ]
    for frame in foreign {
      let effects = calls.received(frame.encoded[...], at: .zero)
      let isIdle = effects.allSatisfy { if case .withdraw = $0 { true } else { false } }
      #expect(isIdle, "\(frame)")
    }
    #expect(calls.outgoingCount == 1 && calls.servedCount == 1 && calls.isWanted(7) == true)
  }

  @Test("after a goodbye calls fail at once, and a new greeting takes calls again")
  func goodbye() throws {
    var calls = Self.calls()
    try calls.begin(1, Self.call(1), until: .seconds(1))
    let effects = calls.received(CallFrame.goodbye(.shuttingDown, "bye").encoded[...], at: .zero)
    #expect(effects.first == .settle(1, .failed(CallFailure(.shuttingDown, "bye"))))
    #expect(throws: CallFailure.self) { try calls.begin(2, Self.call(2), until: .seconds(1)) }
    let hello = CallFrame.hello(.init(instance: 9, limits: .usual, asks: false)).encoded[...]
    #expect(calls.received(hello, at: .zero).count == 1)
    try calls.begin(2, Self.call(2), until: .seconds(1))
  }

  @Test(
    "a member that breaks a rule is told, its calls end, and its later frames are not read",
    arguments: [
      [0xFF], [UInt8](repeating: 0x81, count: 60_000), CallFrame.begin(id: 1, total: 1 << 40, [1]).encoded,
      CallFrame.begin(id: 1, total: 1, [1, 2]).encoded, CallFrame.begin(id: 1, total: 9, []).encoded,
      CallFrame.begin(id: 1, total: 5, CallFrame.next(id: 1, [1]).encoded[...]).encoded, call(7),
    ])
  func brokenRules(bytes: [UInt8]) throws {
    var calls = Self.calls()
    _ = calls.received(Self.call(7)[...], at: .zero)
    try calls.begin(1, Self.call(1), until: .seconds(1))
    let effects = calls.received(bytes[...], at: .zero)
    guard case .send(let frame, _)? = effects.first,
      case .goodbye(.protocolBroken, _) = try CallFrame(decoding: frame[...])
    else {
      Issue.record("it is not told: \(effects)")
      return
    }
    #expect(effects.contains(.stop(7)))
    #expect(calls.outgoingCount == 0)
    #expect(calls.received(Self.call(8)[...], at: .zero) == [])
    #expect(calls.received(calls.hello[...], at: .zero) == [])
  }

  @Test("a long frame comes in parts, and is as if it had come whole")
  func parts() throws {
    var calls = Self.calls()
    let large = CBORValue.array([.bytes([UInt8](repeating: 3, count: 200_000))]).encoded
    let parts = CallFrame.parts(of: Self.call(4, arguments: large), id: 1, 60_000)
    #expect(parts.count == 4)
    for part in parts.dropLast() { #expect(calls.received(part.encoded[...], at: .zero) == []) }
    guard case .serve(let call)? = calls.received(parts[3].encoded[...], at: .zero).first else {
      Issue.record("it is not served")
      return
    }
    #expect(call.arguments.elementsEqual(large))
    #expect(calls.received(CallFrame.next(id: 2, [1]).encoded[...], at: .zero) == [], "of a frame that nobody began")
  }

  @Test("calls that not every member takes wait for its greeting, and are sent, refused, taken back or late by then")
  func callsBeforeTheGreeting() throws {
    var calls = Self.calls()
    let large = CBORValue.array([.bytes([UInt8](repeating: 0, count: 70_000))]).encoded
    let larger = CBORValue.array([.bytes([UInt8](repeating: 0, count: 90_000))]).encoded
    var isSent: [Bool] = []
    for (number, arguments) in [(1, large), (2, larger), (3, large), (4, large)] as [(UInt64, [UInt8])] {
      let deadline = Duration.milliseconds(number == 4 ? 10 : 1_000)
      isSent.append(try calls.begin(number, Self.call(number, arguments: arguments), until: deadline))
    }
    for number in 5...20 as ClosedRange<UInt64> {
      isSent.append(try calls.begin(number, Self.call(number), until: .seconds(1)))
    }
    #expect(isSent == (1...20).map { (5...16).contains($0) })
    // The peer has not heard of it.
    #expect(calls.cancel(3).count == 1)
    #expect(calls.expired(at: .milliseconds(10)).count == 1)
    let hello = CallFrame.hello(.init(instance: 2, limits: CallLimits(frame: 80_000, calls: 16), asks: false))
    let effects = calls.received(hello.encoded[...], at: .zero).dropFirst()
    var sent: [UInt64] = []
    var codes: [UInt64: CallFailure.Code] = [:]
    for effect in effects {
      switch effect {
      case .call(let number, _): sent.append(number)
      case .settle(let number, .failed(let failure)): codes[number] = failure.code
      default: Issue.record("\(effect)")
      }
    }
    #expect(sent == [1, 17, 18, 19])
    #expect(codes == [2: .tooLarge, 20: .tooManyCalls])
    #expect(calls.outgoingCount == 16)
  }

  @Test("a greeting that comes between the parts of a long frame, which go in another channel, ends none of them")
  func greetingBetweenParts() throws {
    var calls = Self.calls()
    try calls.begin(5, Self.call(5), until: .seconds(1))
    let value = CBORValue.bytes([UInt8](repeating: 3, count: 60_000)).encoded[...]
    let parts = CallFrame.parts(of: CallFrame.result(number: 5, value: value).encoded, id: 1, 40_000)
    #expect(parts.count == 2)
    #expect(calls.received(parts[0].encoded[...], at: .zero, isLong: true) == [])
    _ = calls.received(CallFrame.hello(.init(instance: 2, limits: .usual, asks: true)).encoded[...], at: .zero)
    #expect(calls.received(parts[1].encoded[...], at: .zero, isLong: true) == [.settle(5, .value(value))])
  }

  @Test("arguments of calls that are served have a limit in bytes, which a refused caller is told, and give room back")
  func argumentBytes() throws {
    var calls = PeerCalls(instance: 1, own: .usual, argumentLimit: 100_000)
    func call(_ number: UInt64, _ count: Int) -> ArraySlice<UInt8> {
      let arguments = CBORValue.array([.bytes([UInt8](repeating: 0, count: count))]).encoded
      return Self.call(number, arguments: arguments)[...]
    }
    #expect(calls.received(call(1, 40_000), at: .zero).count == 1)
    #expect(calls.received(call(2, 40_000), at: .zero).count == 1)
    let bytes = calls.servedBytes
    #expect(bytes > 80_000 && bytes < 80_100)
    let effects = calls.received(call(3, 40_000), at: .zero)
    guard case .send(let frame, _)? = effects.first, case .refused(let refused, let why)? = effects.last,
      case .failure(3, let failure) = try CallFrame(decoding: frame[...])
    else {
      Issue.record("it is not refused: \(effects)")
      return
    }
    #expect(failure == why && refused.number == 3)
    #expect(failure.code == .tooManyCalls && failure.text.contains("100000"))
    #expect(calls.servedBytes == bytes && calls.servedCount == 2)
    #expect(calls.received(call(4, 100), at: .zero).count == 1, "there is room for a short one")
    // Taken back is not ended: its arguments are still kept.
    _ = calls.received(CallFrame.cancel(number: 1).encoded[...], at: .zero)
    #expect(calls.received(call(5, 40_000), at: .zero).count == 2)
    _ = calls.finished(1, with: .value(Self.value))
    #expect(calls.received(call(5, 40_000), at: .zero).count == 1)
    for number in [2, 4, 5] as [UInt64] { _ = calls.finished(number, with: .value(Self.value)) }
    #expect(calls.servedBytes == 0)
  }

  @Test("results that the member does not take have a limit in bytes: more are lost, and above half no call is served")
  func resultBytes() throws {
    var calls = PeerCalls(instance: 1, own: .usual, resultLimit: 100_000)
    _ = calls.received(CallFrame.hello(.init(instance: 2, limits: .usual, asks: false)).encoded[...], at: .zero)
    let long = CBORValue.array([.bytes([UInt8](repeating: 0, count: 60_000))]).encoded[...]
    for number in 1...6 as ClosedRange<UInt64> { _ = calls.received(Self.call(number)[...], at: .zero) }
    let first = calls.finished(1, with: .value(long))
    #expect(try #require(first).failure == nil)
    calls.resultsWait(40_100)
    let second = calls.finished(2, with: .value(long))
    let reply = try #require(second)
    guard case .failure(2, let failure) = try CallFrame(decoding: reply.frame[...]) else {
      Issue.record("more waits than may")
      return
    }
    #expect(failure == reply.failure)
    #expect(failure.code == .tooManyCalls && failure.text.contains("100000") && failure.text.contains("lost"))
    let short = calls.finished(3, with: .value(Self.value))
    #expect(try #require(short).failure == nil, "a short one waits elsewhere")
    calls.resultsWait(50_001)
    let effects = calls.received(Self.call(7)[...], at: .zero)
    guard case .refused(let call, let why)? = effects.last, effects.count == 2 else {
      Issue.record("it is served: \(effects)")
      return
    }
    #expect(call.number == 7 && why.code == .tooManyCalls && why.text.contains("100000"))
    calls.resultsWait(50_000)
    #expect(calls.received(Self.call(8)[...], at: .zero).count == 1, "there is room again")
    // One alone may be as long as the caller takes.
    calls.resultsWait(0)
    let longest = CBORValue.array([.bytes([UInt8](repeating: 0, count: 200_000))]).encoded[...]
    let alone = calls.finished(4, with: .value(longest))
    #expect(try #require(alone).failure == nil)
  }

  @Test("an answer that its caller does not wait for any more is withdrawn, if it waits itself")
  func withdrawnAnswer() throws {
    var calls = Self.calls()
    _ = calls.received(Self.call(1)[...], at: .zero)
    _ = calls.received(Self.call(2)[...], at: .zero)
    _ = calls.finished(1, with: .value(Self.value))
    #expect(calls.received(CallFrame.cancel(number: 1).encoded[...], at: .zero) == [.withdraw(1)])
    #expect(calls.received(CallFrame.cancel(number: 2).encoded[...], at: .zero) == [.stop(2)])
    #expect(calls.received(CallFrame.cancel(number: 2).encoded[...], at: .zero) == [], "it is stopped once")
  }

  @Test("of many calls that are served the arguments are kept, and not what they were read with")
  func copiedArguments() throws {
    var calls = Self.calls()
    var kept = 0
    for number in 1...256 as ClosedRange<UInt64> {
      let frame = Self.call(number)
      let read = [UInt8](repeating: 0, count: 100_000) + frame
      guard case .serve(let call)? = calls.received(read.suffix(frame.count), at: .zero).first else {
        Issue.record("call \(number) is not served")
        return
      }
      if call.arguments.startIndex > 0 { kept += 1 }
    }
    #expect(kept == 16)
  }

  @Test("a member that greets again and again has broken a rule; one that makes a system anew now and then has not")
  func greetings() {
    var calls = Self.calls()
    var instance: UInt64 = 1
    func hello() -> ArraySlice<UInt8> {
      instance += 1
      return CallFrame.hello(.init(instance: instance, limits: .usual, asks: true)).encoded[...]
    }
    for second in 1...1_000 {
      guard case .greeted? = calls.received(hello(), at: .seconds(second)).last else {
        Issue.record("it is not taken")
        return
      }
    }
    var taken = 0
    while taken < 100 {
      let effects = calls.received(hello(), at: .seconds(1_000))
      guard case .greeted? = effects.last else {
        guard case .closed(let failure)? = effects.last else { break }
        #expect(failure.code == .protocolBroken)
        break
      }
      taken += 1
    }
    #expect(taken == GreetingAllowance.most - 1)
    #expect(calls.received(hello(), at: .seconds(2_000)) == [])
  }

  @Test("the reason why no caller waits for a served call is known until its task ends")
  func endingOfServed() throws {
    var calls = Self.calls()
    for number in 1...3 as ClosedRange<UInt64> {
      _ = calls.received(Self.call(number, milliseconds: number == 2 ? 10 : 1_000)[...], at: .zero)
    }
    #expect(calls.ending(of: 1) == nil)
    _ = calls.received(CallFrame.cancel(number: 1).encoded[...], at: .zero)
    _ = calls.expired(at: .milliseconds(10))
    _ = calls.end(CallFailure(.left, "gone"))
    #expect((1...3).map { calls.ending(of: $0)?.code } == [.cancelled, .timedOut, .left])
    for number in 1...3 as ClosedRange<UInt64> { _ = calls.finished(number, with: .value(Self.value)) }
    #expect(calls.ending(of: 1) == nil)
  }
}
