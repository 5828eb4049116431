import Piconet
import Testing

@testable import PiconetCommandLine

@Suite("imagerecv --daily, as strangers meet it")
struct DailyTests {
  /// A program of this process that is a member of `imagerecv`, which does not know it.
  private func stranger(
    daily: Int, _ body: (ToolScene, ToolProcess, Node, Member) async throws -> Void
  ) async throws {
    try await ToolScene.run { scene in
      let receiver = try await scene.receiver("--any", "--daily", "\(daily)", knownTo: [])
      let address = try #require((receiver.events("listening").first?["addresses"] as? [String])?.first)
      var configuration = NodeConfiguration(sessionID: scene.session, name: "Stranger")
      configuration.mode = .client
      configuration.discovers = false
      configuration.transports = [.tcp]
      try await Node.run(configuration) { node in
        let member = try await node.invite(at: address)
        try await body(scene, receiver, node, member)
      }
    }
  }

  /// Why a file was not taken; nil: it was.
  private func refusal(of resource: Resource, by member: Member) async -> PiconetError? {
    do throws(PiconetError) {
      _ = try await member.send(resource)
      return nil
    } catch {
      return error
    }
  }

  private func isOfToday(_ refusal: PiconetError?) -> Bool {
    refusal?.code == .declined && refusal?.detail.contains("today") == true
  }

  @Test("two transfers of one content at once have no more than the day allows, and cost nothing of what is left of it")
  func together() async throws {
    try await stranger(daily: 3_000_000) { scene, receiver, _, member in
      let photo = Resource.file(try scene.photo("a.jpg", size: 2_000_000))
      async let one = refusal(of: photo, by: member)
      async let other = refusal(of: photo, by: member)
      let refusals = await [one, other].compactMap { $0 }
      #expect(refusals.count == 1 && isOfToday(refusals.first), "\(refusals)")
      let rest = Resource.bytes([UInt8](repeating: 1, count: 1_000_000), named: "b.bin")
      let refused = await refusal(of: rest, by: member)
      #expect(refused == nil, "\(String(describing: refused))")
      let beyond = await refusal(of: .bytes([1], named: "c.bin"), by: member)
      #expect(isOfToday(beyond), "\(String(describing: beyond))")
      #expect(try scene.received() == ["a.jpg", "b.bin"])
      #expect(await receiver.shows("\"daily-limit\""), "\(receiver.error)")
    }
  }

  @Test("a device that a person makes known while it is connected is no stranger from its next file on")
  func confirmed() async throws {
    try await stranger(daily: 5_000) { scene, _, node, member in
      let large = Resource.bytes([UInt8](repeating: 1, count: 5_001), named: "a.bin")
      let first = await refusal(of: large, by: member)
      #expect(isOfToday(first), "\(String(describing: first))")
      try await scene.trust("add", "Phone", node.id.peer.description, state: "Kitchen")
      let refused = await refusal(of: large, by: member)
      #expect(refused == nil, "\(String(describing: refused))")
      #expect(try scene.received() == ["a.bin"])
    }
  }
}
