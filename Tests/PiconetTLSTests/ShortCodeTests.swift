import Foundation
import PiconetEngine
import Testing

@testable import PiconetTLS

@Suite struct ShortCodeTests {
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
    let nonce = try bytes("dialler's nonce")
    #expect(try ShortCode.commitment(to: nonce) == bytes("commitment"))
    let code = ShortCode.code(
      exportedKey: try bytes("exported key"), diallerNonce: nonce, acceptorNonce: try bytes("acceptor's nonce"))
    #expect(code?.description == fields["code"])
  }

  @Test("both ends of a link show the same code")
  func sameOnBothSides() throws {
    let pair = try ChannelPair.secured()
    let dialler = try ShortCode.makeNonce()
    let acceptor = try ShortCode.makeNonce()
    let commitment = ShortCode.commitment(to: dialler)
    #expect(ShortCode.verify(dialler, against: commitment))
    let codes = [pair.client, pair.server].map {
      ShortCode.code(
        exportedKey: $0.exportedKey(label: ShortCode.exporterLabel), diallerNonce: dialler, acceptorNonce: acceptor)
    }
    #expect(codes[0] != nil && codes[0] == codes[1])
  }

  @Test("with somebody in the middle the codes differ, even if he hands the nonces through")
  func manInTheMiddle() throws {
    let left = try ChannelPair.secured()
    let right = try ChannelPair.secured()
    let nonces = (try ShortCode.makeNonce(), try ShortCode.makeNonce())
    let keys = [left.client, right.server].map { $0.exportedKey(label: ShortCode.exporterLabel) }
    #expect(keys[0] != keys[1])
    // Equal by chance once in a million: three nonces are never all unlucky.
    let codes = (0..<3).map { round in
      keys.map {
        ShortCode.code(exportedKey: $0, diallerNonce: nonces.0, acceptorNonce: nonces.1.map { $0 &+ UInt8(round) })
      }
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
    let dialler = [UInt8](repeating: 2, count: 32)
    let acceptor = [UInt8](repeating: 3, count: 32)
    let code = try #require(ShortCode.code(exportedKey: key, diallerNonce: dialler, acceptorNonce: acceptor))
    #expect(code.description == "426 754")
    #expect(
      ShortCode.commitment(to: dialler).map { String($0, radix: 16) }.prefix(4).joined(separator: " ") == "4b 1a f3 20")
    #expect(ShortCode.code(exportedKey: [], diallerNonce: dialler, acceptorNonce: acceptor) == nil)
    #expect(ShortCode.code(exportedKey: key, diallerNonce: dialler + [0], acceptorNonce: acceptor) == nil)
    // The order counts: nobody's nonce can stand for the other's.
    #expect(ShortCode.code(exportedKey: key, diallerNonce: acceptor, acceptorNonce: dialler) != code)
  }

  @Test("six digits with leading zeros")
  func format() throws {
    let key = [UInt8](repeating: 0, count: 32)
    let codes = (0..<200).compactMap {
      ShortCode.code(exportedKey: key, diallerNonce: key, acceptorNonce: [UInt8](repeating: UInt8($0), count: 32))
    }
    #expect(codes.count == 200 && Set(codes).count > 190)
    #expect(codes.allSatisfy { $0.description.count == 7 && $0.value < 1_000_000 })
    let small = try #require(codes.first { $0.value < 100_000 })
    #expect(small.description.hasPrefix("0"))
  }
}
