import Foundation
import PiconetEngine
import PiconetFiles
import PiconetTLS
import PiconetWire
import Testing

@testable import Piconet

@Suite("A peer that breaks a transfer", .timeLimit(.minutes(15)))
struct HostileTransferTests {
  /// Offers a resource and waits until it is taken.
  private static func offer(
    _ raw: RawLink, _ number: UInt64 = 0, name: String = "a.bin", size: UInt64
  ) throws {
    try raw.send(.offer(transfer: number, ResourceOffer(name: Array(name.utf8), size: size)))
    _ = try raw.wait(for: "acceptance") { if case .acceptOffer(number, _, _) = $0 { true } else { nil } }
  }

  private static func refusal(_ raw: RawLink, _ number: UInt64 = 0) throws -> Reason {
    try raw.wait(for: "refusal") { frame -> Reason? in
      switch frame {
      case .refuse(number, let reason, _), .declineOffer(number, let reason, _): reason
      default: nil
      }
    }
  }

  static let content = [UInt8](repeating: 3, count: 1000)

  @Test(
    "more bytes than offered, fewer, and a wrong digest are refused with the reason, and nothing is kept",
    arguments: [(1001, Reason.sizeMismatch), (999, .sizeMismatch), (1000, .digestMismatch)])
  func wrongContent(count: Int, reason: Reason) async throws {
    try await Host.run { host in
      let said = try await blocking {
        let raw = try RawLink(to: host.address)
        try raw.join()
        try Self.offer(raw, size: 1000)
        try raw.send(
          .chunk(transfer: 0, [UInt8](repeating: 3, count: count)[...]),
          .end(transfer: 0, size: UInt64(count), ResourceDigest(sha256: [UInt8](repeating: 0, count: 32))!))
        return try Self.refusal(raw)
      }
      #expect(said == reason)
      guard case .failure(let error)? = await host.outcomes.first() else {
        Issue.record("stored")
        return
      }
      #expect(error.code.rawValue == (reason == .sizeMismatch ? "sizeMismatch" : "digestMismatch"))
      #expect(error.blame == .peer, "\(error)")
      try await host.servesAnHonestPeer()
      #expect(host.entries().count == 1)
    }
  }

  @Test("chunks of one byte each are stored like any others")
  func tinyChunks() async throws {
    try await Host.run { host in
      let content = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
      let expected = try #require(resourceDigest(of: content))
      try await blocking {
        let raw = try RawLink(to: host.address)
        try raw.join()
        try Self.offer(raw, size: 20_000)
        for start in stride(from: 0, to: 19_000, by: 1000) {
          try raw.write(
            content[start..<(start + 1000)].flatMap { FrameEncoder.encode(.chunk(transfer: 0, [$0])) })
        }
        try raw.send(.chunk(transfer: 0, content[19_000...]), .end(transfer: 0, size: 20_000, expected))
        _ = try raw.wait(for: "stored") { if case .stored = $0 { true } else { nil } }
      }
      #expect(try Data(contentsOf: URL(fileURLWithPath: host.directory + "/a.bin")) == Data(content))
    }
  }

  @Test("more bytes under way than the credit allows end the link")
  func beyondCredit() async throws {
    try await Host.run { host in
      let said = try await blocking {
        let raw = try RawLink(to: host.address)
        try raw.join()
        try raw.send(.offer(transfer: 0, ResourceOffer(name: [65], size: 1 << 40)))
        let answer = try raw.wait(for: "an answer") { frame -> Frame? in
          switch frame {
          case .acceptOffer, .declineOffer: frame
          default: nil
          }
        }
        return answer
      }
      // A terabyte does not fit on this disk; if it does, credit bounds it.
      if case .declineOffer(_, let reason, _) = said { #expect(reason == .diskFull) }
    }
    try await Host.run(takesOffers: false) { host in
      let raw = try await blocking {
        let raw = try RawLink(to: host.address)
        try raw.join()
        try raw.send(.offer(transfer: 0, ResourceOffer(name: Array("a.bin".utf8), size: 64 << 20)))
        return raw
      }
      let directory = try await host.node.receivingDirectory(at: host.directory)
      let offer = try #require(await host.node.session.offers.first())
      // A transfer that rests gives no credit back, however fast the disk is.
      try await offer.startStoring(in: directory).pause()
      let flood = try await blocking {
        _ = try raw.wait(for: "the pause") { if case .receiverPaused(0, true) = $0 { true } else { nil } }
        let chunk = FrameEncoder.encode(.chunk(transfer: 0, [UInt8](repeating: 3, count: 16_000)[...]))
        // 8 MB, four times the window.
        let bytes = [UInt8]((0..<512).flatMap { _ in chunk })
        try? raw.write(bytes)
        return try raw.readToEnd()
      }
      // A reset may overtake the reason while we still write.
      #expect(flood == nil || flood?.reason == .protocolBroken)
      #expect(await host.departures.first()?.code == .protocolBroken)
      async let honest = host.node.session.offers.first()?.store(in: directory)
      try await host.servesAnHonestPeer()
      _ = try await honest
    }
  }

  @Test("a peer can't touch another peer's transfer: each peer has numbers of its own")
  func someoneElses() async throws {
    try await Host.run { host in
      let names = try await blocking {
        let honest = try RawLink(to: host.address)
        try honest.join()
        try Self.offer(honest, size: 1000)
        for frame in [
          Frame.chunk(transfer: 0, [1]), .end(transfer: 0, size: 1000, HostileFrameTests.digest),
          .abandon(transfer: 0, .cancelled, detail: ""), .refuse(transfer: 0, .cancelled, detail: ""),
        ] {
          let other = try RawLink(to: host.address)
          try other.join()
          try other.send(frame, .ping(1))
          _ = try other.readToEndOrPong()
        }
        let digest = try #require(resourceDigest(of: Self.content))
        try honest.send(.chunk(transfer: 0, Self.content[...]), .end(transfer: 0, size: 1000, digest))
        return try honest.wait(for: "stored") { if case .stored(0, let name) = $0 { name } else { nil } }
      }
      #expect(String(decoding: names, as: UTF8.self) == "a.bin")
      #expect(host.entries() == ["a.bin"])
    }
  }

  @Test("offers without end end the association at the limit, and cost nothing else")
  func offersWithoutEnd() async throws {
    try await Host.run(takesOffers: false) { host in
      let (said, sent) = try await blocking {
        let raw = try RawLink(to: host.address)
        try raw.join()
        var sent = 0
        var batch: [UInt8] = []
        // Far more than the socket buffers of both sides hold, which may take 10 MB of it before the host has looked.
        for number in 0..<UInt64(10_000_000) {
          FrameEncoder.append(
            .offer(transfer: number % WireLimits.transferNumbers, ResourceOffer(name: [65], size: 1)), to: &batch)
          guard number % 100 == 99 else { continue }
          guard (try? raw.write(batch)) != nil else { break }
          batch = []
          sent += 100
        }
        return (try raw.readToEnd(), sent)
      }
      // A reset may overtake the reason while we still write.
      #expect(said == nil || said?.reason == .protocolBroken)
      #expect(sent < 10_000_000)
      #expect(await host.departures.first()?.code == .protocolBroken)
      // What was offered has ended and been taken back.
      #expect(host.node.core.log.offerCount == 0)
    }
  }

  @Test("offers that are given up at once do not pile up in a program that reads no offers")
  func offersGivenUp() async throws {
    try await Host.run(takesOffers: false) { host in
      try await blocking {
        let raw = try RawLink(to: host.address)
        try raw.join()
        for _ in 0..<200 {
          for number in UInt64(0)..<60 {
            try raw.send(
              .offer(
                transfer: number, ResourceOffer(name: [65], size: 1, metadata: [UInt8](repeating: 0, count: 4000))),
              .abandon(transfer: number, .cancelled, detail: ""))
          }
          for _ in 0..<60 { _ = try raw.wait(for: "refusal") { if case .refuse = $0 { true } else { nil } } }
        }
      }
      #expect(host.node.core.log.offerCount == 0)
    }
  }
}

extension RawLink {
  /// Reads to the end, or to the answer to a ping.
  func readToEndOrPong() throws -> Frame? {
    while let frame = try next() {
      if case .pong = frame { return frame }
    }
    return nil
  }
}

/// The digest as a sender states it in a frame.
func resourceDigest(of bytes: [UInt8]) -> ResourceDigest? {
  bytes.withUnsafeBytes { RunningSHA256.digest(of: $0) }.flatMap { ResourceDigest(sha256: $0.bytes) }
}
