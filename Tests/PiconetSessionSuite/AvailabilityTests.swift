import PiconetEngine
import TestSupport
import Testing

@testable import Piconet

extension SessionSuite {
  /// A transport that this machine lacks is skipped here, with its name and the reason; the other tests run without it.
  @Suite(
    "Transports of this machine", .timeLimit(.minutes(15)),
    .machine("--adapters 3 --env PICONET_SUITE=rfcomm", "--adapters 3 --env PICONET_SUITE=le", or: .anywhere))
  struct AvailabilityTests {
    @Test("sessions run over the simulated transport", .available(.simulated))
    func simulated() async throws { try await connects(.simulated) }

    @Test("sessions run over simulated packets", .available(.packets))
    func packets() async throws { try await connects(.packets) }

    @Test("sessions run over TCP", .available(.tcp))
    func tcp() async throws { try await connects(.tcp) }

    @Test("sessions run over L2CAP", .available(.l2cap))
    func l2cap() async throws { try await connects(.l2cap) }

    @Test("sessions run over RFCOMM", .available(.rfcomm))
    func rfcomm() async throws { try await connects(.rfcomm) }

    @Test("sessions run over LE", .available(.le))
    func le() async throws { try await connects(.le) }

    @Test("links over L2CAP are silenced and cut", .breakable(.l2cap))
    func l2capFaults() async throws { try await isSilenced(.l2cap) }

    @Test("links over RFCOMM are silenced and cut", .breakable(.rfcomm))
    func rfcommFaults() async throws { try await isSilenced(.rfcomm) }

    @Test("links over LE are silenced and cut", .breakable(.le))
    func leFaults() async throws { try await isSilenced(.le) }

    /// Shows that the machine's air takes the requests.
    private func isSilenced(_ transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.silence()
        try await world.endSilence()
        try await world.cut()
      }
    }

    private func connects(_ transport: SuiteTransport) async throws {
      try await SuiteWorld.run(transport) { world in
        try await world.pair { pair in
          let (onClient, onServer) = try await pair.connect()
          #expect(onClient.proven.transport == transport.kind)
          #expect(onServer.proven.transport == transport.kind)
        }
      }
    }
  }
}

extension Trait where Self == ConditionTrait {
  fileprivate static func available(_ transport: SuiteTransport) -> Self {
    .enabled(if: transport.missing == nil, "\(transport.name): \(transport.missing ?? "")")
  }

  fileprivate static func breakable(_ transport: SuiteTransport) -> Self {
    .enabled(if: transport.missingFaults == nil, "\(transport.name): \(transport.missingFaults ?? "")")
  }
}
