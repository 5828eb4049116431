import Distributed
import Foundation
import Piconet
import PiconetActors
import PiconetCalls
import TestSupport
import Testing

@testable import PiconetCommandLine

struct Colour: Codable, Hashable, Sendable {
  var red: Double
  var name: String?
}

@Resolvable
protocol Lamp: RemoteObject where ActorSystem == PiconetActorSystem {
  distributed func describe(_ prefix: String, _ suffix: String?) async throws -> String
  distributed func brighten(_ steps: Int) async throws -> Int
  distributed func paint(_ colours: [Colour]) async throws -> [Colour]
  distributed func length(_ bytes: [UInt8]) async throws -> [UInt8]
  distributed func reset() async throws
  distributed func wait() async throws
  distributed func fail() async throws
}

extension Lamp { static var interface: RemoteInterface { lampInterface } }

private let lampInterface = RemoteInterface(
  "org.example.lamp", version: 2, of: (any Lamp).self,
  methods: [
    .method("describe", "prefix", "suffix") { try await $0.describe($1, $2) },
    .method("brighten", "by") { try await $0.brighten($1) },
    .method("paint", "colours", since: 2) { try await $0.paint($1) },
    .method("length", "bytes") { try await $0.length($1) },
    .method("reset") { try await $0.reset() },
    .method("wait") { try await $0.wait() },
    .method("fail") { try await $0.fail() },
  ])

distributed actor WorkingLamp: Lamp {
  typealias ActorSystem = PiconetActorSystem
  private var brightness = 0
  private let waits: AsyncStream<Void>.Continuation?

  /// - Parameter waits: told of each call of `wait`.
  init(actorSystem: PiconetActorSystem, waits: AsyncStream<Void>.Continuation? = nil) {
    self.actorSystem = actorSystem
    self.waits = waits
  }

  distributed func describe(_ prefix: String, _ suffix: String?) -> String { prefix + (suffix ?? "\u{1B}[31m.") }
  distributed func brighten(_ steps: Int) -> Int {
    brightness += steps
    return brightness
  }
  distributed func paint(_ colours: [Colour]) -> [Colour] { colours.reversed() }
  distributed func length(_ bytes: [UInt8]) -> [UInt8] { Array("\(bytes.count) ".utf8) + bytes }
  distributed func reset() { brightness = 0 }
  /// Until it is cancelled.
  distributed func wait() async {
    waits?.yield()
    for await _ in AsyncStream<Void>.makeStream().stream {}
  }
  distributed func fail() throws { throw CocoaError(.fileNoSuchFile) }
}

@Suite("piconet browse, introspect and call")
struct ObjectToolTests {
  /// A program with a lamp, which lets every device in.
  private func withLamp(_ body: (ToolScene, String) async throws -> Void) async throws {
    try await ToolScene.run { scene in
      try await scene.withNode("Ceiling") { node in
        var configuration = ActorSystemConfiguration()
        configuration.about = ["model": "Lamp 3000"]
        try await PiconetActorSystem.run(on: node, configuration) { system in
          try system.publish(WorkingLamp(actorSystem: system), at: "/lamp")
          try await node.advertise(system.advertisement(names: ["org.example.ceiling"]))
          try await node.setAvailable(true)
          try await body(scene, try #require(await node.listeningAddresses.first).text)
        }
      }
    }
  }

  /// - Returns: the status, what stands on standard output, and on standard error.
  private func said(_ scene: ToolScene, _ words: String...) async throws -> (Int32?, String, String) {
    let tool = try scene.start("piconet", words, state: "caller")
    return (await tool.end(), tool.output, tool.error)
  }

  @Test("browse shows advertised objects, by prefix and by interface, and ends with 3 if no member advertises one")
  func browse() async throws {
    try await withLamp { scene, _ in
      let all = try scene.start("piconet", ["browse"], state: "caller")
      #expect(
        await all.shows("\n        interface org.example.lamp, version 2\n        model Lamp 3000\n"), "\(all.error)")
      #expect(all.output.contains("found   Ceiling (") && all.output.contains("\n        name org.example.ceiling\n"))
      all.send(signal: SIGINT)
      #expect(await all.end() == 0)
      let json = try scene.start(
        "piconet", ["browse", "--json", "--interface=org.example.lamp:2", "org.example.ceil"], state: "caller")
      #expect(
        await json.shows(
          #""names":["org.example.ceiling"],"interfaces":["org.example.lamp:2"],"model":"Lamp 3000"}"#))
      json.send(signal: SIGINT)
      #expect(await json.end() == 0)
      for words in [["--interface", "org.example.lam"], ["--interface", "org.example.lamp:3"], ["org.example.floor"]] {
        let none = try scene.start("piconet", ["browse", "--timeout", "1"] + words, state: "caller")
        #expect(await none.end() == 3, "\(none.output)")
        #expect(none.error.contains("no peer was seen that advertises it"))
      }
    }
  }

  @Test("introspect lists objects, methods and types, for people and as JSON")
  func introspect() async throws {
    try await withLamp { scene, address in
      let (status, text, error) = try await said(scene, "introspect", "Ceiling")
      #expect(status == 0, "\(error)")
      #expect(
        text.hasSuffix(
          """
          /lamp  org.example.lamp, version 2, serves clients from 1 on
            describe(prefix: text, suffix: text?) -> text
            brighten(by: integer) -> integer
            paint(colours: [Colour]) -> [Colour]   since version 2
            length(bytes: bytes) -> bytes
            reset()
            wait()
            fail()

          """), "\(text)")
      #expect(text.hasPrefix("/  piconet.node, version 1\n  ping()\n"), "\(text)")
      let (_, json, _) = try await said(scene, "introspect", "--json", address, "/lamp")
      let object = try JSONDecoder().decode(ObjectDescription.self, from: Data(json.utf8))
      #expect(object.path == "/lamp" && object.interface.methods.count == 7 && object.interface.version == 2)
      let (none, _, why) = try await said(scene, "introspect", "Ceiling", "/floor")
      #expect(none == 4 && why.contains("no object whose path begins with /floor"), "\(why)")
    }
  }

  @Test("ping asks an object, and says what is wrong with one that is not there or does not answer")
  func ping() async throws {
    try await withLamp { scene, address in
      let (status, text, error) = try await said(
        scene, "ping", "--count", "2", "--interval", "0.01", "Ceiling", "/lamp")
      #expect(status == 0, "\(error)")
      #expect(text.contains("answer of /lamp of Ceiling: seq=2 time="), "\(text)")
      #expect(text.contains("2 sent, 2 received, 0% lost, over tcp"), "\(text)")
      let (node, _, _) = try await said(scene, "ping", "-c1", address, "/")
      #expect(node == 0)
      let (none, _, why) = try await said(scene, "ping", "Ceiling", "/floor")
      #expect(none == 4 && why.contains("there is no object at /floor"), "\(why)")
      // Without a number of pings it goes on until it is interrupted, and ends as its pings did.
      let endless = try scene.start("piconet", ["ping", "--interval=0.01", "Ceiling", "/lamp"], state: "caller")
      #expect(await endless.shows("seq=3"), "\(endless.error)")
      endless.send(signal: SIGINT)
      #expect(await endless.end() == 0, "\(endless.error)")
      #expect(endless.output.contains("0% lost"), "\(endless.output)")
    }
  }

  @Test("a name that a program has claimed and advertises means its device; one that it only advertises does not")
  func wellKnownNames() async throws {
    try await ToolScene.run { scene in
      try await scene.withNode("Ceiling") { node in
        try await PiconetActorSystem.run(on: node) { system in
          try system.publish(WorkingLamp(actorSystem: system), at: "/lamp")
          try await system.claim("org.example.ceiling")
          try await node.advertise(system.advertisement(names: ["org.example.ceiling", "org.example.attic"]))
          try await node.setAvailable(true)
          let ping = try await said(scene, "ping", "--count", "1", "org.example.ceiling", "/lamp")
          #expect(ping.0 == 0 && ping.1.contains("answer of /lamp of Ceiling: seq=1 time="), "\(ping)")
          let call = try await said(scene, "call", "org.example.ceiling", "/lamp", "brighten", "7")
          #expect(call.0 == 0 && call.1 == "7\n", "\(call)")
          let introspect = try await said(scene, "introspect", "org.example.ceiling", "/lamp")
          #expect(introspect.0 == 0 && introspect.1.hasPrefix("/lamp  org.example.lamp, version 2"), "\(introspect)")
          let unclaimed = try await said(scene, "call", "org.example.attic", "/lamp", "brighten", "1")
          #expect(unclaimed.0 == 4, "\(unclaimed)")
          #expect(
            unclaimed.2.contains(
              "Ceiling advertises the name org.example.attic, and does not have it in its session"), "\(unclaimed)")
          let absent = try await said(scene, "call", "--timeout", "1", "org.example.ceil", "/lamp", "reset")
          #expect(absent.0 == 3, "\(absent)")
        }
      }
    }
  }

  @Test("a device that is called so goes before a program that advertises the name, though it is seen after that")
  func deviceBeforeAdvertisedName() async throws {
    try await ToolScene.run { scene in
      try await scene.withNode("Ceiling") { claimant in
        try await PiconetActorSystem.run(on: claimant) { impostor in
          try impostor.publish(WorkingLamp(actorSystem: impostor), at: "/lamp")
          try await impostor.claim("Hall")
          try await claimant.advertise(impostor.advertisement(names: ["Hall"]))
          try await scene.withNode("Hall") { hall in
            try await PiconetActorSystem.run(on: hall) { system in
              try system.publish(WorkingLamp(actorSystem: system), at: "/lamp")
              let ping = try scene.start("piconet", ["ping", "--count", "1", "Hall", "/lamp"], state: "caller")
              #expect(await ping.shows("Looking for 'Hall'"), "\(ping.error)")
              try await claimant.setAvailable(true)
              try await hall.setAvailable(true)
              #expect(await ping.end() == 0, "\(ping.error)")
              #expect(ping.output.contains("answer of /lamp of Hall: seq=1 time="), "\(ping.output)")
            }
          }
        }
      }
    }
  }

  @Test("call gives each parameter its word, and writes the result")
  func call() async throws {
    try await withLamp { scene, address in
      let cases: [([String], String)] = [
        (["/lamp", "describe", "5", "null"], "\"5\\u001b[31m.\"\n"), (["/lamp", "describe", "[a", "b]"], "\"[ab]\"\n"),
        // An override of direction is escaped: a log with it is read on terminals too.
        (["/lamp", "describe", "\u{202E}", "ß"], "\"\\u202eß\"\n"),
        (["--raw", "/lamp", "describe", "a\"", "b"], "a\"b\n"), (["/lamp", "brighten", "7"], "7\n"),
        (["--", "/lamp", "brighten", "-2"], "5\n"),
        (
          ["/lamp", "paint", #"[{"red":1,"name":"x"},{"red":0.5}]"#],
          #"[{"red":0.5},{"red":1.0,"name":"x"}]"# + "\n"
        ),
        (["/lamp", "length", "Zm8"], "\"MiBmbw\"\n"), (["/lamp", "reset"], ""), (["/", "ping"], ""),
      ]
      for (words, expected) in cases {
        // The options come before the peer, and `--` before the operands.
        let options = words.prefix { $0.hasPrefix("--") }
        let tool = try scene.start(
          "piconet", ["call"] + options + [address] + words.dropFirst(options.count), state: "caller")
        #expect(await tool.end() == 0, "\(words): \(tool.error)")
        #expect(tool.output == expected, "\(words)")
      }
      let shown = try scene.start(
        "piconet", ["call", address, "/lamp", "describe", "\u{202E}", "b"], state: "caller", onTerminal: true,
        outputOnTerminal: true)
      #expect(await shown.end() == 0, "\(shown.error)")
      #expect(shown.error.contains("b\"") && !shown.error.contains("\u{202E}"), "\(shown.error)")
    }
  }

  @Test("a device that leaves in the middle of a call, or between pings, ends them at once, with that reason")
  func leaving() async throws {
    try await ToolScene.run { scene in
      try await scene.withNode("Ceiling") { node in
        try await PiconetActorSystem.run(on: node) { system in
          let waits = AsyncStream.makeStream(of: Void.self)
          try system.publish(WorkingLamp(actorSystem: system, waits: waits.continuation), at: "/lamp")
          try await node.setAvailable(true)
          let call = try scene.start(
            "piconet", ["call", "--timeout", "300", "Ceiling", "/lamp", "wait"], state: "caller")
          for await _ in waits.stream { break }
          for member in node.session.members { await member.disconnect() }
          #expect(await call.end() == 5, "\(call.error)")
          #expect(call.error.contains("left") && call.output.isEmpty, "\(call.error)")
          let ping = try scene.start(
            "piconet", ["ping", "--timeout", "300", "--interval", "0.01", "Ceiling", "/lamp"], state: "caller")
          #expect(await ping.shows("seq=3"), "\(ping.error)")
          for member in node.session.members { await member.disconnect() }
          #expect(await ping.end() == 5, "\(ping.error)")
          #expect(ping.output.contains(" sent, "), "\(ping.output)")
        }
      }
    }
  }

  @Test("introspect, call and ping report that a program's policy does not allow them")
  func notAllowed() async throws {
    try await ToolScene.run { scene in
      try await scene.withNode("Ceiling") { node in
        var configuration = ActorSystemConfiguration()
        configuration.policy = .asking { _ in false }
        try await PiconetActorSystem.run(on: node, configuration) { system in
          try system.publish(WorkingLamp(actorSystem: system), at: "/lamp")
          try await node.setAvailable(true)
          for words in [
            ["introspect", "Ceiling"], ["call", "Ceiling", "/lamp", "reset"], ["ping", "Ceiling", "/lamp"],
          ] {
            let tool = try scene.start("piconet", words, state: "caller")
            #expect(await tool.end() == 4, "\(words): \(tool.error)")
            #expect(tool.error.contains("the device does not allow this call"), "\(words): \(tool.error)")
          }
        }
      }
    }
  }

  @Test("piconet call refuses wrong arguments, and reports a call that fails, times out or is interrupted")
  func wrongCalls() async throws {
    try await withLamp { scene, _ in
      let cases: [([String], Int32, String)] = [
        (["/lamp", "brighten"], 2, "it takes 1 argument, and not 0: brighten(by: integer) -> integer"),
        (["/lamp", "brighten", "five"], 2, "argument 1: no JSON at byte 1"),
        (["/lamp", "brighten", "\"five\""], 4, "wrongArguments"), (["/lamp", "length", "+"], 2, "no base64url"),
        (["/lamp", "brigthen", "1"], 4, "/lamp has no method 'brigthen'; it has describe("),
        (["/lam", "brighten", "1"], 4, "no object at /lam; there is /lamp"), (["lamp", "x"], 2, "'lamp' is no path"),
        (["/lamp"], 2, "missing METHOD operand"), ([], 2, "missing PATH operand"),
        (["/lamp", "fail"], 4, "thrown: the method has thrown an error"),
        (["/", "ping", "1"], 2, "it takes 0 arguments"),
      ]
      for (words, status, message) in cases {
        let tool = try scene.start("piconet", ["call", "Ceiling"] + words, state: "caller")
        #expect(await tool.end() == status, "\(words): \(tool.error)")
        #expect(tool.error.contains(message), "\(words): \(tool.error)")
        #expect(tool.output.isEmpty)
      }
      let late = try scene.start("piconet", ["call", "--timeout", "2", "Ceiling", "/lamp", "wait"], state: "caller")
      #expect(await late.end() == 5, "\(late.error)")
      // Of the call; or of the invitation before it, where that takes so long on a busy machine.
      #expect(late.error.contains("timedOut") || late.error.contains("no answer in time"), "\(late.error)")
      let ended = try scene.start("piconet", ["call", "-v", "Ceiling", "/lamp", "wait"], state: "caller")
      #expect(await ended.shows("Connected") || ended.isRunning)
      ended.send(signal: SIGINT)
      #expect(await ended.end() == 130, "\(ended.error)")
    }
  }
}
