import PiconetCalls
import Testing

/// Numbers that follow from a seed alone (SplitMix64).
struct Dice: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// Two members that call each other over a slow link, in virtual time: calls short and long, taken back, served
/// quickly, slowly or never; systems that stop and come again; at last the link ends, or everything runs out.
struct CallWorld {
  struct Message {
    var at: Duration
    var bytes: [UInt8]
  }

  struct Side {
    var calls: PeerCalls
    /// What is under way to it, in each of both channels.
    var incoming: [[Message]] = [[], []]
    var lastNumber: UInt64 = 0
    var waiting: Set<UInt64> = []
    var answers: [UInt64: PeerCalls.Answer] = [:]
    /// What it serves, and when that ends; nil: never.
    var running: [UInt64: Duration?] = [:]
    var served: Set<UInt64> = []
    var stopped: Set<UInt64> = []
  }

  var dice: Dice
  var now = Duration.zero
  var sides: [Side]
  var isStalled = false
  var faults: [String] = []

  init(seed: UInt64) {
    dice = Dice(state: seed)
    let limits = CallLimits(frame: 80_000, calls: 16)
    sides = (0...1).map { Side(calls: PeerCalls(instance: UInt64($0), own: limits)) }
    for index in 0...1 { send(sides[index].calls.hello, false, from: index) }
  }

  mutating func send(_ frame: [UInt8], _ isLong: Bool, from index: Int) {
    let channel = isLong || PeerCalls.isLong(frame) ? 1 : 0
    let messages = frame.count > 30_000 ? CallFrame.parts(of: frame, id: dice.next(), 30_000).map(\.encoded) : [frame]
    for message in messages {
      let last = sides[1 - index].incoming[channel].last?.at ?? now
      let at = max(last, now + .milliseconds(Int.random(in: 1...(channel == 0 ? 50 : 300), using: &dice)))
      sides[1 - index].incoming[channel].append(Message(at: at, bytes: message))
    }
  }

  mutating func perform(_ effects: [PeerCalls.Effect], at index: Int) {
    for effect in effects {
      switch effect {
      case .send(let frame, let isLong): send(frame, isLong, from: index)
      case .call(_, let frame): send(frame, false, from: index)
      case .settle(let number, let answer):
        if sides[index].waiting.remove(number) == nil { faults.append("\(number) is settled twice") }
        sides[index].answers[number] = answer
      case .serve(let call):
        if !sides[index].served.insert(call.number).inserted { faults.append("\(call.number) is served twice") }
        let time = Duration.milliseconds(Int.random(in: 0...400, using: &dice))
        sides[index].running[call.number] = .some(Int.random(in: 0...9, using: &dice) == 0 ? nil : now + time)
      case .stop(let number):
        if !sides[index].stopped.insert(number).inserted { faults.append("\(number) is stopped twice") }
        // Most tasks heed it, some do not.
        if Bool.random(using: &dice) { sides[index].running[number] = .some(now) }
      case .withdraw, .refused, .greeted, .passed, .closed: break
      }
    }
  }

  mutating func begin(at index: Int) {
    sides[index].lastNumber += 1
    let number = sides[index].lastNumber
    let size = [1, 100, 20_000, 70_000, 90_000].randomElement(using: &dice) ?? 1
    let milliseconds = UInt64.random(in: 50...2_000, using: &dice)
    let arguments = CBORValue.array([.unsigned(number), .bytes([UInt8](repeating: 0, count: size))]).encoded
    let frame = CallFrame.call(
      .init(
        number: number, path: "/", interface: "i", version: 1, method: "m", milliseconds: milliseconds,
        arguments: arguments[...])
    ).encoded
    do throws(CallFailure) {
      let isSent = try sides[index].calls.begin(number, frame, until: now + .milliseconds(Int64(milliseconds)))
      sides[index].waiting.insert(number)
      if isSent { send(frame, false, from: index) }
    } catch {
      let isRight = [.tooManyCalls, .tooLarge, .shuttingDown].contains(error.code)
      if !isRight { faults.append("a call is refused: \(error)") }
    }
  }

  mutating func finish(_ number: UInt64, at index: Int) {
    sides[index].running[number] = nil
    let value = CBORValue.unsigned(number * 2).encoded
    if let reply = sides[index].calls.finished(number, with: .value(value[...])) {
      send(reply.frame, false, from: index)
    }
  }

  /// Passes so much time, in which whatever is due happens, the earliest first.
  mutating func pass(_ time: Duration) {
    let end = now + time
    while let next = earliest(), next.at <= end {
      now = max(now, next.at)
      next.happen(&self)
    }
    now = end
  }

  private func earliest() -> (at: Duration, happen: (inout CallWorld) -> Void)? {
    var all: [(Duration, (inout CallWorld) -> Void)] = []
    for index in 0...1 {
      for channel in 0...1 {
        if !isStalled, let message = sides[index].incoming[channel].first {
          all.append(
            (
              message.at,
              { world in
                world.sides[index].incoming[channel].removeFirst()
                world.perform(world.sides[index].calls.received(message.bytes[...], at: world.now), at: index)
              }
            ))
        }
      }
      for (number, end) in sides[index].running.sorted(by: { $0.key < $1.key }) {
        if let end { all.append((end, { $0.finish(number, at: index) })) }
      }
      if let deadline = sides[index].calls.nextDeadline {
        all.append((deadline, { $0.perform($0.sides[index].calls.expired(at: $0.now), at: index) }))
      }
    }
    return all.min { $0.0 < $1.0 }.map { (max($0.0, now), $0.1) }
  }
}

@Suite("Calls in virtual time")
struct PeerCallsSimulationTests {
  @Test("no seed makes a call served twice, settled twice or never, or answered with another one's result")
  func seeds() {
    for seed in 0..<400 as Range<UInt64> {
      var world = CallWorld(seed: seed)
      var restarts = 0
      for _ in 0..<150 {
        let index = Int.random(in: 0...1, using: &world.dice)
        switch Int.random(in: 0...19, using: &world.dice) {
        case 0...9: world.begin(at: index)
        case 10...11:
          if let number = world.sides[index].waiting.sorted().randomElement(using: &world.dice) {
            world.perform(world.sides[index].calls.cancel(number), at: index)
          }
        // A failover: nothing arrives for a while, and nothing is lost.
        case 12: world.isStalled.toggle()
        case 13 where seed % 4 == 3:
          restarts += 1
          restart(index, &world, UInt64(100 + restarts))
        case 14 where seed % 4 == 1: partition(&world)
        default: world.pass(.milliseconds(Int.random(in: 1...200, using: &world.dice)))
        }
      }
      if seed % 2 == 0 {
        for index in 0...1 { world.perform(world.sides[index].calls.end(CallFailure(.left, "")), at: index) }
      } else {
        world.isStalled = false
        world.pass(.seconds(60))
      }
      for side in world.sides {
        #expect(side.waiting.isEmpty, "seed \(seed): \(side.waiting) wait for ever")
        for (number, answer) in side.answers {
          guard case .value(let value) = answer else { continue }
          #expect(value.elementsEqual(CBORValue.unsigned(number * 2).encoded), "seed \(seed)")
        }
        #expect(side.calls.servedCount == side.running.count, "seed \(seed)")
      }
      #expect(world.faults.isEmpty, "seed \(seed): \(world.faults)")
    }
  }

  @Test("where nothing is taken back, late or lost, every call is answered by its result")
  func allAnswered() {
    for seed in 0..<50 as Range<UInt64> {
      var world = CallWorld(seed: seed)
      world.pass(.seconds(1))
      for number in 1...16 as ClosedRange<UInt64> {
        let frame = PeerCallsTests.call(number, milliseconds: 60_000)
        _ = try? world.sides[0].calls.begin(number, frame, until: world.now + .seconds(60))
        world.sides[0].waiting.insert(number)
        world.send(frame, false, from: 0)
      }
      world.pass(.seconds(2))
      for number in world.sides[1].running.keys.sorted() { world.finish(number, at: 1) }
      world.pass(.seconds(2))
      #expect(world.sides[0].answers.count == 16, "seed \(seed)")
      for (number, answer) in world.sides[0].answers {
        #expect(answer == .value(CBORValue.unsigned(number * 2).encoded[...]), "seed \(seed)")
      }
    }
  }

  /// Nothing arrives any more, each side gives up the other at a time of its own, and they become members anew: with
  /// the same systems, and conversations that know nothing of the former ones.
  private func partition(_ world: inout CallWorld) {
    world.isStalled = true
    for index in [0, 1].shuffled(using: &world.dice) {
      world.pass(.milliseconds(Int.random(in: 0...500, using: &world.dice)))
      world.perform(world.sides[index].calls.end(CallFailure(.left, "")), at: index)
      if !world.sides[index].waiting.isEmpty { world.faults.append("a call outlives the membership") }
      for number in world.sides[index].running.keys.sorted() {
        world.sides[index].running[number] = nil
        if world.sides[index].calls.finished(number, with: .value([0xF6])) != nil {
          world.faults.append("\(number) is answered in another membership")
        }
      }
    }
    world.isStalled = false
    for index in 0...1 {
      world.sides[index].incoming = [[], []]
      world.sides[index].calls = PeerCalls(instance: UInt64(index), own: CallLimits(frame: 80_000, calls: 16))
      world.sides[index].lastNumber += 1_000
    }
    for index in 0...1 { world.send(world.sides[index].calls.hello, false, from: index) }
  }

  /// Another system in the same node, over the same membership. What the former one has said goes first.
  private func restart(_ index: Int, _ world: inout CallWorld, _ instance: UInt64) {
    world.send(CallFrame.goodbye(.shuttingDown, "").encoded, false, from: index)
    world.perform(world.sides[index].calls.end(CallFailure(.shuttingDown, "")), at: index)
    for number in world.sides[index].running.keys.sorted() { world.finish(number, at: index) }
    world.sides[index].calls = PeerCalls(instance: instance, own: CallLimits(frame: 80_000, calls: 16))
    world.sides[index].lastNumber += 1_000
    world.send(world.sides[index].calls.hello, false, from: index)
  }
}
