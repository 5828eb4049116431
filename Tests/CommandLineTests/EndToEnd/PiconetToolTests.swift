import Foundation
import Piconet
import TestSupport
import Testing

@testable import PiconetCommandLine

@Suite("piconet at work over loopback")
struct PiconetToolTests {
  private func listener(
    _ scene: ToolScene, _ command: String, _ arguments: String..., input: String? = nil, output: String? = nil
  ) async throws -> ToolProcess {
    let listener = try scene.start(
      "piconet", [command, "--listen", "--name", "Kitchen", "--accept", "all"] + arguments, state: "Kitchen",
      input: input, output: output)
    try #require(await listener.shows("Listening as 'Kitchen'"), "\(listener.error)")
    return listener
  }

  private func address(_ listener: ToolProcess) throws -> String {
    let line = try #require(listener.error.split(separator: "\n").first { $0.hasPrefix("Listening as") })
    return try #require(line.split(separator: " ").last.map(String.init))
  }

  @Test("ping finds by name, measures, names the transport and ends with 0")
  func ping() async throws {
    try await ToolScene.run { scene in
      let listener = try await listener(scene, "ping")
      let ping = try scene.start("piconet", ["ping", "-c3", "-i10ms", "Kitchen"], state: "p")
      #expect(await ping.end() == 0, "\(ping.error)")
      #expect(ping.output.contains("over tcp, 127.0.0.1:"))
      for number in 1...3 { #expect(ping.output.contains("64 bytes from Kitchen: seq=\(number) time=")) }
      #expect(ping.output.contains("3 sent, 3 received, 0% lost, over tcp\nround trip min/avg/max = "))
      // What the node has counted of the connection.
      #expect(ping.output.contains("\nconnection: tcp, round trip min/avg/last = "), "\(ping.output)")
      #expect(ping.output.contains("; sent again 0 B in 0 frames; dropped 0\n"))
      #expect(!ping.output.contains("not acknowledged"), "\(ping.output)")
      let large = try scene.start("piconet", ["ping", "-c2", "-i10ms", "-s90000", try address(listener)], state: "p")
      #expect(await large.end() == 0, "\(large.error)")
      #expect(large.output.contains("90008 bytes from Kitchen: seq=2"))
      listener.send(signal: SIGINT)
      #expect(await listener.end() == 130, "\(listener.error)")
    }
  }

  @Test("Ctrl-C ends a ping with its figures and 0; a peer that goes ends it with 5")
  func pingEnds() async throws {
    try await ToolScene.run { scene in
      let listener = try await listener(scene, "ping")
      let ping = try scene.start("piconet", ["ping", "-i10ms", "Kitchen"], state: "p")
      #expect(await ping.shows("seq=3 "))
      ping.send(signal: SIGINT)
      #expect(await ping.end() == 0, "\(ping.error)")
      #expect(ping.output.contains("0% lost") || ping.output.contains("received, "))
      let left = try scene.start("piconet", ["ping", "-i10ms", "Kitchen"], state: "p")
      #expect(await left.shows("seq=3 "))
      listener.send(signal: SIGTERM)
      #expect(await listener.end() == 143)
      #expect(await left.end() == 5, "\(left.error)")
      #expect(left.output.contains("ping statistics"))
    }
  }

  @Test("a peer that pings and does not read the answers does not keep other peers from theirs")
  func deafAsker() async throws {
    try await ToolScene.run { scene in
      let listener = try await listener(scene, "ping")
      var configuration = NodeConfiguration(sessionID: scene.session, name: "Deaf")
      configuration.transports = [.tcp]
      configuration.discovers = false
      let place = try address(listener)
      try await Node.run(configuration) { node in
        let member = try await node.invite(at: place, timeout: .seconds(20))
        // More than any window holds, and this node does not read the answers.
        let asked: Bool? = await limited(to: .seconds(60)) {
          let payload = [UInt8](repeating: 0, count: 90_000)[...]
          for number in 1...200 as ClosedRange<UInt64> {
            let request = PingMessage(kind: .request, number: number, payload: payload)
            do { try await member.send(request.bytes) } catch { return nil }
          }
          return true
        }
        #expect(asked == true, "the listener takes no more requests")
        let other = try scene.start("piconet", ["ping", "-c3", "-i10ms", "Kitchen"], state: "other")
        #expect(await other.end() == 0, "\(other.error)")
        #expect(node.session.members.count == 1)
      }
    }
  }

  @Test("scan tells which peers come and go, with session, fingerprint and transports, and ends by itself or by Ctrl-C")
  func scan() async throws {
    try await ToolScene.run { scene in
      let scan = try scene.start("piconet", ["scan"], state: "s")
      let events = try scene.start("piconet", ["scan", "--json"], state: "s")
      #expect(await scan.shows("Looking for peers of \(scene.session) over tcp, until Ctrl-C"))
      let receiver = try await scene.receiver()
      #expect(await scan.shows("found   Kitchen ("), "\(scan.error)")
      #expect(scan.output.contains(") in \(scene.session): tcp 127.0.0.1:"))
      #expect(await events.shows("\"found\""))
      receiver.send(signal: SIGTERM)
      #expect(await receiver.end() == 143)
      #expect(await scan.shows("lost    Kitchen ("))
      #expect(await events.shows("\"lost\""))
      for process in [scan, events] {
        process.send(signal: SIGINT)
        #expect(await process.end() == 0, "\(process.error)")
      }
      let own = receiver.events("listening").first?["peer"] as? String
      #expect(events.events("found").first?["peer"] as? String == own)
      #expect(events.events("found").first?["transports"] as? [String] == ["tcp"])
      let nobody = try scene.start("piconet", ["scan", "--timeout", "0.3"], state: "s")
      #expect(await nobody.end() == 3)
    }
  }

  @Test("scan tells a damaged line of the known peers once, however many sessions it looks at")
  func scanDamage() async throws {
    try await ToolScene.run { scene in
      let folder = "\(scene.folder.path)/state-s/piconet"
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      let path = folder + "/known-peers"
      let mode = [FileAttributeKey.posixPermissions: 0o600]
      let text = "piconet-known-peers 3\nhalf a line\npiconet-known-peers end 1\n"
      #expect(FileManager.default.createFile(atPath: path, contents: Data(text.utf8), attributes: mode))
      let scan = try scene.start("piconet", ["scan", "--json", "--session", scene.session + "-2"], state: "s")
      #expect(await scan.shows("damaged line"))
      _ = try await scene.receiver()
      #expect(await scan.shows("\"found\""))
      scan.send(signal: SIGINT)
      #expect(await scan.end() == 0, "\(scan.error)")
      #expect(scan.error.components(separatedBy: "warning: \(path):2: damaged line, passed over: ").count == 2)
      #expect(scan.events("warning").map { $0["line"] as? Int } == [2])
    }
  }

  @Test("cat carries megabytes both ways at once, byte for byte, and both ends of input")
  func catBothWays() async throws {
    try await ToolScene.run { scene in
      let there = try scene.photo("there", size: 20_000_003)
      let back = try scene.photo("back", size: 5_000_001)
      let (gotThere, gotBack) = (scene.folder.path + "/got-there", scene.folder.path + "/got-back")
      let listener = try await listener(scene, "cat", input: back, output: gotThere)
      let cat = try scene.start("piconet", ["cat", "Kitchen"], state: "c", input: there, output: gotBack)
      #expect(await cat.end() == 0, "\(cat.error)")
      #expect(await listener.end() == 0, "\(listener.error)")
      #expect(try scene.isSame(there, gotThere))
      #expect(try scene.isSame(back, gotBack))
      #expect(cat.error.contains("over tcp"))
    }
  }

  @Test("cat with nothing to carry ends on both sides; an address does as well as a name")
  func catNothing() async throws {
    try await ToolScene.run { scene in
      let listener = try await listener(scene, "cat", "--listen=127.0.0.1:0")
      let cat = try scene.start("piconet", ["cat", try address(listener)], state: "c")
      #expect(await cat.end() == 0, "\(cat.error)")
      #expect(await listener.end() == 0, "\(listener.error)")
    }
  }

  @Test("a person need not type Ctrl-D once the other side has finished")
  func catOnTerminal() async throws {
    try await ToolScene.run { scene in
      let text = scene.folder.path + "/text"
      try Data("hello\n".utf8).write(to: URL(filePath: text))
      let listener = try scene.start(
        "piconet", ["cat", "--listen", "--name", "Kitchen", "--accept", "all"], state: "Kitchen", onTerminal: true)
      #expect(await listener.shows("Listening as 'Kitchen'"))
      let cat = try scene.start("piconet", ["cat", "Kitchen"], state: "c", input: text)
      #expect(await cat.end() == 0, "\(cat.error)")
      #expect(await listener.end() == 0, "\(listener.error)")
      #expect(listener.output == "hello\n")
    }
  }

  @Test("cat whose other side is killed in the middle ends with 5, and a signal shows as one")
  func catLost() async throws {
    try await ToolScene.run { scene in
      let endless = scene.folder.path + "/fifo"
      try #require(mkfifo(endless, 0o600) == 0)
      let writer = open(endless, O_RDWR | O_CLOEXEC)
      defer { close(writer) }
      let listener = try await listener(scene, "cat", input: endless)
      let cat = try scene.start("piconet", ["cat", "Kitchen"], state: "c", input: endless)
      #expect(await cat.shows("Connected to Kitchen"))
      #expect(await listener.shows("Connected to "))
      listener.send(signal: SIGKILL)
      #expect(await cat.end() == 5, "\(cat.error)")
      let second = try await self.listener(scene, "cat", input: endless)
      second.send(signal: SIGINT)
      #expect(await second.end() == 130)
    }
  }

  @Test("ping and cat are in sessions of their own, so one never reaches the other")
  func apart() async throws {
    try await ToolScene.run { scene in
      let environment = [
        "PICONET_INTERFACES": "lo", "XDG_STATE_HOME": "\(scene.folder.path)/state-x", "HOME": scene.folder.path,
      ]
      let name = "Kitchen \(UUID().uuidString)"
      let listener = try ToolProcess(
        "piconet", ["ping", "--listen", "--accept", "all", "--name", name], environment: environment)
      #expect(await listener.shows("Listening as"))
      let cat = try ToolProcess("piconet", ["cat", try address(listener)], environment: environment)
      #expect(await cat.end() == 3, "\(cat.error)")
      #expect(cat.error.contains("another session"))
      let lost = try ToolProcess("piconet", ["cat", "--timeout", "0.3", name], environment: environment)
      #expect(await lost.end() == 3, "\(lost.error)")
      listener.send(signal: SIGINT)
      #expect(await listener.end() == 130)
    }
  }

  @Test("doctor says something, in time, and its exit status agrees with its findings")
  func doctor() async throws {
    let doctor = try ToolProcess("piconet", ["doctor", "--json"], environment: [:])
    let status = await doctor.end()
    let findings = doctor.output.split(separator: "\n").compactMap {
      try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: String]
    }
    #expect(findings.count > 2, "\(doctor.output)")
    #expect(status == (findings.contains { $0["severity"] == "problem" } ? 1 : 0))
    let human = try ToolProcess("piconet", ["doctor"], environment: [:])
    #expect(await human.end() == status)
    #expect(human.output.contains("sum         "))
  }

  @Test("a wrong command line ends with 2 and shows the way out")
  func usage() async throws {
    for words in [[], ["pong"], ["ping", "--size=1T"], ["cat", "a", "b"], ["scan", "x"], ["doctor", "--all"]] {
      let process = try ToolProcess("piconet", words, environment: [:])
      #expect(await process.end() == 2)
      #expect(process.error.contains("--help' for more information."), "\(process.error)")
    }
  }
}
