import PiconetEngine
import PiconetTLS
import TestSupport
import Testing

@testable import Piconet

/// A source that sees one device, under any name.
private final class OneSighting: Discovery {
  let sourceName = "one"
  private let sighting: Sighting
  private var handler: ((DiscoveryReport) -> Void)?

  init(_ sighting: Sighting) { self.sighting = sighting }
  func advertise(_ advertisement: NodeAdvertisement?) {}
  func search(sessionID: String?) { if sessionID != nil { handler?(.seen(sighting)) } }
  func setHandler(_ handler: @escaping (DiscoveryReport) -> Void) { self.handler = handler }
  func close() {}
}

@Suite("A device that is advertised under another name than it gives", .timeLimit(.minutes(15)))
struct AdvertisedOtherwiseTests {
  /// Invites a host that is in sight under this name.
  private func outcome(
    as name: String, _ others: [String] = [], calling wanted: String? = nil, of hostName: String = "Host"
  ) async throws -> PiconetError? {
    let state = try TemporaryFolder()
    return try await Host.run {
      $0.name = hostName
    } _: { host in
      let sighting = Sighting(
        peer: host.node.id.peer, incarnation: host.node.id.incarnation, name: name, info: [:],
        addresses: [TransportAddress(kind: .tcp, text: host.address)], otherNames: others)
      return try await Host.client("Client") {
        $0.identity = .directory(state.path + "/state")
        $0.additional = { _ in .init(transports: [], discoveries: [OneSighting(sighting)]) }
      } _: { client in
        try await client.setAvailable(true)
        for await peers in client.peers {
          guard var peer = peers.first else { continue }
          #expect(peer.name == name && peer.otherNames == others)
          if let wanted { peer = try await client.firstPeer(named: wanted) }
          return await failure { [peer] in try await client.invite(peer) }
        }
        return nil
      }
    }
  }

  @Test("a name with marks that a discovery does not show is the name that was advertised")
  func marks() async throws {
    #expect(try await outcome(as: "Aleph\u{FFFD} \u{5D0}", of: "Aleph\u{200F} \u{5D0}") == nil)
    #expect(try await outcome(as: "Aleph\u{FFFD}", of: "Alephs")?.code == .identity)
  }

  @Test("a stranger of several names is the one that is invited only under the name that it gives")
  func severalNames() async throws {
    #expect(try await outcome(as: "Zed", ["Host"], calling: "Host") == nil)
    for (name, others) in [("Carol", ["Host"]), ("Host", ["Carol"])] {
      let error = try await outcome(as: name, others, calling: "Carol")
      #expect(error?.code == .identity && error?.blame == .peer, "\(String(describing: error))")
      #expect(error?.detail == "it was found as 'Carol', and calls itself 'Host' once it is connected")
    }
    #expect(try await outcome(as: "Zed", ["Host"])?.code == .identity, "the name that was shown")
  }

  @Test("a stranger is refused for it, and nothing is sent")
  func stranger() async throws {
    #expect(try await outcome(as: "Host") == nil)
    let error = try await outcome(as: "Bob")
    #expect(error?.code == .identity && error?.blame == .peer, "\(String(describing: error))")
    #expect(error?.detail == "it was found as 'Bob', and calls itself 'Host' once it is connected")
  }
}
