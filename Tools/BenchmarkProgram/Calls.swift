import Distributed
import Piconet
import PiconetActors

// Not public on purpose: the compiler's own way to serve calls fails for such a protocol in release builds, and .ci/run
// shows by this that ours does not.
@Resolvable
protocol Joiner: RemoteObject where ActorSystem == PiconetActorSystem {
  distributed func concatenate(_ first: String, _ second: String) async throws -> String
}

extension Joiner {
  static var interface: RemoteInterface { joiner }
}

private let joiner = RemoteInterface(
  "piconet.benchmark", of: (any Joiner).self,
  methods: [.method("concatenate", "first", "second") { try await $0.concatenate($1, $2) }])

distributed actor JoiningActor: Joiner {
  typealias ActorSystem = PiconetActorSystem
  distributed func concatenate(_ first: String, _ second: String) -> String { first + second }
}

/// Calls with two short strings: how long one takes, beside the round trip of a message between the same two members,
/// and how many a second `--peers` tasks make at once. Callers, callee and those that send messages are ordinary tasks,
/// or with `--on-node-thread` all on their nodes' threads; messages between tasks on these are measured in any case.
/// With `--untimed` only the many calls: for counting instructions.
struct Calls {
  let options: BenchmarkOptions

  func run() async throws {
    try await BothEnds.run(options) { node, member in
      var configuration = ActorSystemConfiguration()
      configuration.servesOnNodeThread = options.isOnNodeThread
      try await PiconetActorSystem.run(on: node, configuration) { system in
        if options.isServer {
          try await serve(node, member, system)
        } else if options.isOnNodeThread {
          try await withTaskExecutorPreference(node.executor) { try await ask(node, member, system) }
        } else {
          try await ask(node, member, system)
        }
      }
    }
  }

  private func serve(_ node: Node, _ member: Member, _ system: PiconetActorSystem) async throws {
    try system.publish(JoiningActor(actorSystem: system), at: "/joiner")
    try DrillRound.serve(system)
    let telling = Task { try await DrillRound.tell(system) }
    // Before this the other end would be told that there is no such object.
    try await member.send([1])
    let measurement = Measurement()
    // The other end has begun to measure: nothing else happens from here on.
    for await _ in node.session.messages(in: 1) { break }
    telling.cancel()
    if !options.isOnNodeThread { try await echo(node, member) }
    try await withTaskExecutorPreference(node.executor) { try await echo(node, member) }
    for await case .left in node.session.membership { break }
    measurement.report(options, ",\"count\":\(options.count)")
  }

  /// Until an empty message comes. A reader of all messages would get those of calls as well.
  private func echo(_ node: Node, _ member: Member) async throws {
    for await message in node.session.messages(in: 0) {
      try await member.send(message.bytes)
      if message.bytes.isEmpty { break }
    }
  }

  /// Round trips of messages.
  private func messages(_ node: Node, _ member: Member) async throws -> [UInt64] {
    let message = [UInt8](repeating: 7, count: options.size)[...]
    var replies = node.session.messages(in: 0).makeAsyncIterator()
    let trips = try await times {
      if options.isUntimed { return }
      try await member.send(message)
      guard await replies.next()?.bytes.count == message.count else { throw BenchmarkFailure("no answer") }
    }
    try await member.send([])
    _ = await replies.next()
    return trips
  }

  private func ask(_ node: Node, _ member: Member, _ system: PiconetActorSystem) async throws {
    for await message in node.session.messages(in: 0) where message.bytes.count == 1 { break }
    if !options.isUntimed { try await DrillRound.ask(system, member) }
    try await member.send([1], in: 1)
    let alike = options.isOnNodeThread ? nil : try await messages(node, member)
    let fastest = try await withTaskExecutorPreference(node.executor) { try await messages(node, member) }
    let object = try system.object($Joiner.self, at: "/joiner", of: member)
    let calls = try await times {
      if options.isUntimed { return }
      guard try await object.concatenate("Code ", "Monkies!!!!!!!").utf8.count == 19 else {
        throw BenchmarkFailure("a wrong answer")
      }
    }
    // What every object has beside its own interface is made in release builds, too.
    try await system.ping(.object(RemoteObjectID(member.id, "/joiner")))
    let measurement = Measurement()
    let before = Measurement.nanoseconds()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<options.peers {
        group.addTask {
          for _ in 0..<(options.count / options.peers) { _ = try await object.concatenate("Code ", "Monkies!!!!!!!") }
        }
      }
      try await group.waitForAll()
    }
    let seconds = Double(Measurement.nanoseconds() - before) / 1e9
    func microseconds(_ trips: [UInt64], _ part: Double) -> Double {
      Double(trips[min(trips.count - 1, Int(part * Double(trips.count)))]) / 1e3
    }
    measurement.report(
      options,
      ",\"count\":\(options.count),\"callers\":\(options.peers),"
        + "\"message_p50_us\":\(microseconds(alike ?? fastest, 0.5)),"
        + "\"message_on_node_thread_p50_us\":\(microseconds(fastest, 0.5)),"
        + "\"call_p50_us\":\(microseconds(calls, 0.5)),\"call_p99_us\":\(microseconds(calls, 0.99)),"
        + "\"calls_per_s\":\(Double(options.count) / seconds)")
  }

  /// How long each takes in nanoseconds, shortest first, after a tenth as many that are not timed.
  private func times(_ body: () async throws -> Void) async throws -> [UInt64] {
    var trips: [UInt64] = []
    trips.reserveCapacity(options.count)
    let warmUp = options.count / 10 + 1
    for round in 0..<(warmUp + options.count) {
      let before = Measurement.nanoseconds()
      try await body()
      if round >= warmUp { trips.append(Measurement.nanoseconds() - before) }
    }
    return trips.sorted()
  }
}
