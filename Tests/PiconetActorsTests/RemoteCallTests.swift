import Glibc
import Piconet
import PiconetActors
import PiconetCalls
import TestSupport
import Testing

@Suite("Calls to objects of a member", .timeLimit(.minutes(10)))
struct RemoteCallTests {
  @Test("a call gives what the method gives: texts, structures, bytes, nothing")
  func results() async throws {
    try await Pair.run { pair in
      let desk = try pair.desk()
      #expect(try await desk.concatenate("Code ", "Monkies!!!!!!!") == "Code Monkies!!!!!!!")
      let entry = Entry(title: "a", pages: [1, 2], next: [Entry(title: "b", pages: [], next: [])])
      #expect(try await desk.file(entry, copies: 3) == [entry, entry, entry])
      try await desk.reset()
      #expect(try await desk.callers() == ["Client", "/desk", "test.desk", "callers"])
      let any: any Desk = desk
      #expect(try await any.concatenate("x", "y") == "xy")
    }
  }

  @Test("arguments and results above the longest message arrive whole, while short calls go on")
  func longOnes() async throws {
    try await Pair.run { pair in
      let desk = try pair.desk()
      async let length = desk.length(of: [UInt8](repeating: 1, count: 3_000_000))
      async let other = desk.length(of: [UInt8](repeating: 1, count: 17_000))
      #expect(try await desk.bytes(3_000_000).count == 3_000_000)
      #expect(try await desk.concatenate("a", "b") == "ab")
      #expect(try await (length, other) == (3_000_000, 17_000))
      #expect(await code { try await desk.length(of: [UInt8](repeating: 1, count: 5_000_000)) } == .tooLarge)
      #expect(await code { try await desk.bytes(5_000_000) } == .tooLarge)
      #expect(try await desk.bytes(3).count == 3)
    }
  }

  @Test(
    "callers in the pool and on their node's thread at once: each gets its own answers, and goes on where it was",
    arguments: [false, true])
  func manyCallers(servesOnNodeThread: Bool) async throws {
    var configuration = ActorSystemConfiguration()
    configuration.servesOnNodeThread = servesOnNodeThread
    try await Pair.run(service: configuration) { pair in
      let desk = try pair.desk()
      let executor = pair.client.node.executor
      let nodeThread = await withTaskExecutorPreference(executor) { Threads.current }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for caller in 0..<16 {
          let isOnNodeThread = caller.isMultiple(of: 2)
          group.addTask(executorPreference: isOnNodeThread ? executor : nil) {
            for call in 0..<50 {
              let answer = try await desk.concatenate("\(caller) ", "\(call)")
              #expect(answer == "\(caller) \(call)")
              #expect((Threads.current == nodeThread) == isOnNodeThread)
            }
          }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test("a declared error comes as it was thrown, and of any other no word")
  func errors() async throws {
    try await Pair.run { pair in
      let desk = try pair.desk()
      await #expect(throws: DeskFailure.locked(by: "Ada")) { try await desk.fail(privately: false) }
      await #expect {
        try await desk.fail(privately: true)
      } throws: { error in
        (error as? RemoteCallError)?.code == .thrown && !"\(error)".contains("mat") && !"\(error)".contains("Private")
      }
    }
  }

  @Test("an object whose id is an argument is called back once it is published, and one that comes home is itself")
  func objectsAsArguments() async throws {
    try await Pair.run { pair in
      let desk = try pair.desk()
      let visitor = Visitor(actorSystem: pair.client)
      let id = visitor.id
      let guest = try $Guest.resolve(id: RemoteObjectID(pair.client.node.id, "/guest"), using: pair.service)
      #expect(await code { try await desk.visit(guest, times: 1) } == .thrown, "it is not published")
      try pair.client.publish(visitor, at: "/guest")
      #expect(try await desk.callBack(id, times: 4) == 60)
      #expect(try await desk.callBack(guest.id, times: 3) == 30, "by its path")
      let published = try $Guest.resolve(id: id, using: pair.service)
      #expect(try await published.greet(2) == 20)
      #expect(try Visitor.resolve(id: id, using: pair.client) === visitor)
      #expect(try Visitor.resolve(id: RemoteObjectID(id.node, "/guest"), using: pair.client) === visitor)
      #expect(throws: RemoteCallError.self) { try WorkingDesk.resolve(id: id, using: pair.client) }
    }
  }

  @Test("a caller that asks learns paths, interfaces, versions, methods and their types")
  func introspection() async throws {
    try await Pair.run { pair in
      _ = try pair.desk()
      try pair.service.publish(NewLamp(actorSystem: pair.service), at: "/lamps/1")
      let objects = try await pair.client.objects(of: pair.toService)
      #expect(objects.map(\.path) == ["/", "/desk", "/lamps/1"])
      #expect(objects.map(\.interface.name) == ["piconet.node", "test.desk", "test.lamp"])
      let file = try #require(objects[1].interface.methods.first { $0.name == "file" })
      #expect(file.parameters.map(\.name) == ["entry", "copies"])
      #expect(file.parameters.map(\.type) == ["Entry", "integer"] && file.result == "[Entry]")
      #expect(objects[2].interface.version == 2 && objects[2].interface.methods.map(\.since) == [1, 2, 2])
      #expect(try await pair.client.objects(of: pair.toService, under: "/lamps").map(\.path) == ["/lamps/1"])
      #expect(try await pair.client.ping(pair.toService) > .zero)
    }
  }

  @Test("many callers at once each get their own answer, in any order")
  func manyCallers() async throws {
    try await Pair.run { pair in
      let desk = try pair.desk()
      await withTaskGroup(of: Bool.self) { group in
        for caller in 0..<16 {
          group.addTask {
            for number in 0..<100 {
              let text = "\(caller).\(number)"
              guard let answer = try? await desk.concatenate(text, "!") else { return false }
              if answer != text + "!" { return false }
            }
            return true
          }
        }
        for await isRight in group { #expect(isRight) }
      }
    }
  }

  @Test("a callee that never answers costs its caller the deadline, and is cancelled")
  func deadline() async throws {
    try await Pair.run { pair in
      let log = DeskLog()
      let desk = try pair.desk(log)
      let code = await code { try await CallDeadline.within(.milliseconds(50)) { try await desk.waitForEver() } }
      #expect(code == .timedOut)
      for await _ in log.cancellations.stream { break }
    }
  }

  @Test("cancelling the calling task cancels the task that serves the call")
  func cancellation() async throws {
    try await Pair.run { pair in
      let log = DeskLog()
      let desk = try pair.desk(log)
      let caller = Task { await code { try await desk.waitForEver() } }
      for await _ in log.waits.stream { break }
      caller.cancel()
      #expect(await caller.value == .cancelled)
      for await _ in log.cancellations.stream { break }
      let cancelledBefore = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return await code { try await desk.concatenate("a", "b") }
      }
      #expect(await cancelledBefore.value == .cancelled)
    }
  }

  @Test("more calls at once than the member takes fail at once, and the others go on")
  func tooManyCalls() async throws {
    var configuration = ActorSystemConfiguration()
    configuration.callLimit = 16
    try await Pair.run(service: configuration) { pair in
      let log = DeskLog()
      let desk = try pair.desk(log)
      try await desk.reset()
      let callers = (0..<16).map { _ in Task { await code { try await desk.waitForEver() } } }
      var waits = log.waits.stream.makeAsyncIterator()
      for _ in callers { await waits.next() }
      #expect(await code { try await desk.reset() } == .tooManyCalls)
      callers[0].cancel()
      #expect(await callers[0].value == .cancelled)
      for await _ in log.cancellations.stream { break }
      // Its place is free once its task has ended over there. The service does not tell the caller.
      while let code = await code(of: { try await desk.reset() }) { #expect(code == .tooManyCalls) }
      for caller in callers { caller.cancel() }
    }
  }
}

private enum Threads {
  static var current: UInt { UInt(pthread_self()) }
}
