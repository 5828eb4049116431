import Piconet
import PiconetActors
import PiconetCalls
import TestSupport
import Testing

@Suite("Calls beside other messages", .timeLimit(.minutes(10)))
struct CallPriorityTests {
  @Test("short calls go in the channel that can be given priority, before messages that wait; long ones in another")
  func priority() async throws {
    var configuration = NodeConfiguration(sessionID: "a", name: "a")
    configuration.givePriorityToCalls()
    #expect(configuration.channelPriorities == [PiconetActorSystem.channel: .high])
    try await Pair.nodes(throughRelay: true) { serviceNode, clientNode, relay in
      let relay = try #require(relay)
      var messages = serviceNode.session.messages.makeAsyncIterator()
      try await PiconetActorSystem.run(on: clientNode) { client in
        let member = try #require(clientNode.session[serviceNode.id])
        let desk = try client.object($Desk.self, at: "/desk", of: member)
        // The greeting.
        #expect(await messages.next()?.channel == PiconetActorSystem.channel)
        relay.setSilent(true)
        var sent = 0
        while sent < 1_000, try member.trySend([UInt8](repeating: 1, count: 60_000), in: 0) { sent += 1 }
        #expect(sent < 1_000, "none waits")
        // One that is taken back has been handed to the node, and so has that.
        let call = Task { try await desk.reset() }
        call.cancel()
        _ = await call.result
        relay.setSilent(false)
        var channels: [MessageChannel] = []
        while channels.count < sent + 2, let message = await messages.next() { channels.append(message.channel) }
        let urgent = try #require(channels.firstIndex(of: PiconetActorSystem.channel))
        #expect(channels[(urgent + 1)...].contains(0), "it has waited for all others")
        #expect(channels.count { $0 == PiconetActorSystem.channel } == 2)
        // Long ones wait until the member is known to have an actor system.
        let hello = CallFrame.hello(.init(instance: 1, limits: .usual, asks: false))
        try await #require(serviceNode.session[clientNode.id]).send(hello.encoded, in: PiconetActorSystem.channel)
        let long = Task { try await desk.length(of: [UInt8](repeating: 1, count: 50_000)) }
        #expect(await messages.next()?.channel == PiconetActorSystem.longChannel)
        long.cancel()
        _ = await long.result
      }
    }
  }
}
