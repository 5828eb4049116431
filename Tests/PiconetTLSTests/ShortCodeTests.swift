import Foundation
import PiconetEngine
import PiconetWire
import Testing

@testable import PiconetTLS

@Suite struct ShortCodeTests {
  private func peer(_ byte: UInt8) throws -> PeerID {
    try #require(PeerID(bytes: [UInt8](repeating: byte, count: PeerID.byteCount)))
  }

  private func inputs(_ inviterNonce: [UInt8], _ invitedNonce: [UInt8]) throws -> CodeInputs {
    CodeInputs(
      inviter: try peer(4), invited: try peer(5), inviterNonce: inviterNonce, invitedNonce: invitedNonce,
      commitment: ShortCode.commitment(to: inviterNonce))
  }

  @Test("commitment and code are those of the document's example")
  func goldenCode() throws {
    let document = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "../../Documentation/wire-format.md")
    let text = try String(contentsOf: document.standardized, encoding: .utf8)
    let block = try #require(text.split(separator: "```golden-code\n").last?.split(separator: "```").first)
    let lines = block.split(separator: "\n").map { $0.components(separatedBy: ": ") }
    let fields = Dictionary(uniqueKeysWithValues: lines.map { ($0[0], $0[1]) })
    func bytes(_ name: String) throws -> [UInt8] {
      let digits = Array(try #require(fields[name]))
      return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    }
    let nonce = try bytes("inviter's nonce")
    #expect(try ShortCode.commitment(to: nonce) == bytes("commitment"))
    let inputs = CodeInputs(
      inviter: try #require(PeerID(bytes: try bytes("inviter's fingerprint"))),
      invited: try #require(PeerID(bytes: try bytes("invited side's fingerprint"))), inviterNonce: nonce,
      invitedNonce: try bytes("invited side's nonce"), commitment: try bytes("commitment"))
    let code = ShortCode.code(exportedKey: try bytes("exported key"), inputs)
    #expect(code?.description == fields["code"])
  }

  @Test("both ends of a link show the same code")
  func sameOnBothSides() throws {
    let pair = try ChannelPair.secured()
    let inputs = try inputs(try ShortCode.makeNonce(), try ShortCode.makeNonce())
    let codes = [pair.client, pair.server].map {
      ShortCode.code(exportedKey: $0.exportedKey(label: ShortCode.exporterLabel), inputs)
    }
    #expect(codes[0] != nil && codes[0] == codes[1])
  }

  @Test("with an attacker in the middle the codes differ, even if the nonces are handed through")
  func manInTheMiddle() throws {
    let left = try ChannelPair.secured()
    let right = try ChannelPair.secured()
    let nonces = (try ShortCode.makeNonce(), try ShortCode.makeNonce())
    let keys = [left.client, right.server].map { $0.exportedKey(label: ShortCode.exporterLabel) }
    #expect(keys[0] != keys[1])
    // They are equal by chance once in a million: three nonces are never all unlucky.
    let codes = try (0..<3).map { round in
      let inputs = try inputs(nonces.0, nonces.1.map { $0 &+ UInt8(round) })
      return keys.map { ShortCode.code(exportedKey: $0, inputs) }
    }
    #expect(codes.contains { $0[0] != $0[1] })
  }

  @Test("a nonce that was not committed to is refused")
  func wrongReveal() throws {
    let nonce = try ShortCode.makeNonce()
    let commitment = ShortCode.commitment(to: nonce)
    #expect(commitment.count == 32)
    var other = nonce
    other[31] ^= 1
    #expect(!ShortCode.verify(other, against: commitment))
    #expect(!ShortCode.verify(nonce, against: Array(commitment.dropLast())))
    #expect(!ShortCode.verify(nonce + [0], against: ShortCode.commitment(to: nonce + [0])))
    #expect(!ShortCode.verify([], against: []))
  }

  @Test("nonces are 32 bytes and never the same")
  func nonces() throws {
    let nonces = try (0..<100).map { _ in try ShortCode.makeNonce() }
    #expect(Set(nonces).count == 100 && nonces.allSatisfy { $0.count == 32 })
  }

  @Test("golden values, computed by Python's hashlib")
  func golden() throws {
    let key = [UInt8](repeating: 1, count: 32)
    let inviter = [UInt8](repeating: 2, count: 32)
    let invited = [UInt8](repeating: 3, count: 32)
    let code = try #require(ShortCode.code(exportedKey: key, try inputs(inviter, invited)))
    #expect(code.description == "672 514")
    #expect(
      ShortCode.commitment(to: inviter).map { String($0, radix: 16) }.prefix(4).joined(separator: " ") == "4b 1a f3 20")
    #expect(ShortCode.code(exportedKey: [], try inputs(inviter, invited)) == nil)
    #expect(ShortCode.code(exportedKey: key, try inputs(inviter + [0], invited)) == nil)
    #expect(ShortCode.code(exportedKey: key, try inputs(inviter, [])) == nil)
    // The order counts: one side's nonce or key can't stand for the other's.
    #expect(ShortCode.code(exportedKey: key, try inputs(invited, inviter)) != code)
    var turned = try inputs(inviter, invited)
    (turned.inviter, turned.invited) = (turned.invited, turned.inviter)
    #expect(ShortCode.code(exportedKey: key, turned) != code)
    // Nor does a nonce count that was not committed to.
    var unbound = try inputs(inviter, invited)
    unbound.commitment[0] ^= 1
    #expect(ShortCode.code(exportedKey: key, unbound) == nil)
  }

  @Test("six digits with leading zeros")
  func format() throws {
    let key = [UInt8](repeating: 0, count: 32)
    let codes = try (0..<200).compactMap {
      ShortCode.code(exportedKey: key, try inputs(key, [UInt8](repeating: UInt8($0), count: 32)))
    }
    #expect(codes.count == 200 && Set(codes).count > 190)
    #expect(codes.allSatisfy { $0.description.count == 7 && $0.value < 1_000_000 })
    let small = try #require(codes.first { $0.value < 100_000 })
    #expect(small.description.hasPrefix("0"))
  }
}
