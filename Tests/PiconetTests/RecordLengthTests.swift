import PiconetWire
import Testing

@testable import Piconet

@Suite("How long records are", .timeLimit(.minutes(15)))
struct RecordLengthTests {
  /// The other side hears nothing of a record before it has all of it.
  @Test("on a path without a measurement a long message goes in records of 4 KiB")
  func unmeasured() async throws {
    try await Host.run { host in
      let raw = try await blocking {
        let raw = try RawLink(to: host.address)
        try raw.join()
        return raw
      }
      let start = raw.records.count
      let member = try #require(host.node.session.members.first)
      try await member.send([UInt8](repeating: 7, count: 12_000))
      let records = try await blocking {
        _ = try raw.wait(for: "message") { if case .message = $0 { true } else { nil } }
        return Array(raw.records[start...])
      }
      #expect(records.reduce(0, +) > 12_000, "\(records)")
      #expect(records.allSatisfy { $0 <= 4_096 + RawLink.recordOverhead }, "\(records)")
    }
  }
}
