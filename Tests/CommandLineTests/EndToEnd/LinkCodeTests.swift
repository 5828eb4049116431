import Foundation
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("A code that is typed, for piconet cat and piconet ping")
struct LinkCodeTests {
  private func listener(
    _ scene: ToolScene, _ command: String, _ arguments: String..., input: String? = nil, output: String? = nil
  ) async throws -> ToolProcess {
    let listener = try scene.start(
      "piconet", [command, "--listen", "--name", "Kitchen"] + arguments, state: "Kitchen", input: input, output: output)
    try #require(await listener.shows("Listening as 'Kitchen'"), "\(listener.error)")
    return listener
  }

  @Test("with the code that cat shows bytes go both ways, and both sides know each other from then on")
  func cat() async throws {
    try await ToolScene.run { scene in
      let (far, near) = (
        try scene.folder.write("far", Array("far".utf8)), try scene.folder.write("near", Array("near".utf8))
      )
      let listener = try await listener(scene, "cat", "--code", input: far)
      let shown = try #require(listener.error.split(separator: "\n").first { $0.hasPrefix("Code: ") })
      #expect(shown.hasSuffix("Type it on the other device: piconet cat --code"))
      let code = shown.dropFirst("Code: ".count).prefix { $0 != "T" }.filter(\.isNumber)
      let caller = try scene.start(
        "piconet", ["cat", "--name", "Phone", "--code=\(String(code))", "Kitchen"], state: "phone", input: near)
      #expect(await caller.end() == 0, "\(caller.error)")
      #expect(await listener.end() == 0, "\(listener.error)")
      #expect(caller.output == "far" && listener.output == "near")
      #expect(try await scene.trust(state: "Kitchen").hasPrefix("Phone  code  push:cat send:cat  since "))
      #expect(try await scene.trust(state: "phone").hasPrefix("Kitchen  code  send:cat  since "))
    }
  }

  @Test("ping is let in by the code, and without it from then on; a stranger is not")
  func ping() async throws {
    try await ToolScene.run { scene in
      let listener = try await listener(scene, "ping", "--code=271828")
      let stranger = try scene.start("piconet", ["ping", "-c1", "Kitchen"], state: "stranger")
      #expect(await stranger.end() == ExitCode.refused.rawValue, "\(stranger.error)")
      #expect(stranger.error.contains("use --code"), "\(stranger.error)")
      for words in [["--code=271828"], []] {
        let ping = try scene.start("piconet", ["ping", "-c1"] + words + ["Kitchen"], state: "phone")
        #expect(await ping.end() == 0, "\(ping.error)")
      }
      listener.send(signal: SIGINT)
      #expect(await listener.end() == 130, "\(listener.error)")
    }
  }

  @Test("three wrong tries end a code that was given, and the program with it", arguments: ["cat", "ping"])
  func over(command: String) async throws {
    try await ToolScene.run { scene in
      let listener = try await listener(scene, command, "--code=31415926", input: "/dev/null")
      var tries = 0
      while tries < 3 {
        let caller = try scene.start(
          "piconet", [command, "--code=000000", "Kitchen"], state: "stranger \(tries)", input: "/dev/null")
        #expect(await caller.end() == ExitCode.identity.rawValue, "\(caller.error)")
        // After each try, the receiver takes no code from there for a while.
        if caller.error.contains("it is not the other device's code") { tries += 1 }
      }
      #expect(await listener.end() == ExitCode.identity.rawValue, "\(listener.error)")
      #expect(listener.error.contains("the code is over after three wrong tries"))
    }
  }

  @Test("piconet cat does not ask for the code when it sends standard input")
  func nobodyToAsk() async throws {
    try await ToolScene.run { scene in
      let cat = try scene.start("piconet", ["cat", "--code", "Kitchen"], state: "phone", input: "/dev/null")
      #expect(await cat.end() == ExitCode.usage.rawValue)
      #expect(cat.error.contains("there is no terminal to ask for the code on"))
    }
  }
}
