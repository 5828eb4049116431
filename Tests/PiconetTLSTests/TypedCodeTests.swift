import CPiconetOpenSSL
import Foundation
import PiconetEngine
import PiconetWire
import Testing

@testable import PiconetTLS

@Suite struct TypedCodeTests {
  private let inviter = PeerID(bytes: 0x20..<0x40)!
  private let invited = PeerID(bytes: 0x60..<0x80)!
  private let exported = Array<UInt8>(0x40..<0x60)

  private func scalar(_ code: String, invited: PeerID? = nil) throws -> TypedCodeScalar {
    try TypedCodeScalar(#require(TypedCode(code)), invited: invited ?? self.invited)
  }

  /// Lets shares and confirmations go both ways; gives whether each side accepts the other's.
  private func outcome(_ inviter: TypedCodeExchange, _ invited: TypedCodeExchange) throws -> [Bool] {
    var (inviter, invited) = (inviter, invited)
    let fromInvited = try invited.take(remoteShare: inviter.share)
    let fromInviter = try inviter.take(remoteShare: invited.share)
    return [inviter.verifies(fromInvited), invited.verifies(fromInviter)]
  }

  @Test("all values are those of the document's example, which Python has computed from its text")
  func golden() throws {
    let document = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "../../Documentation/wire-format.md")
    let text = try String(contentsOf: document.standardized, encoding: .utf8)
    let block = try #require(text.split(separator: "```golden-typed-code\n").last?.split(separator: "```").first)
    let lines = block.split(separator: "\n").map { $0.components(separatedBy: ": ") }
    let fields = Dictionary(uniqueKeysWithValues: lines.map { ($0[0], $0[1]) })
    func bytes(_ name: String) throws -> [UInt8] { try unhex(#require(fields[name])) }
    let inviter = try #require(PeerID(bytes: bytes("inviter's id")))
    let invited = try #require(PeerID(bytes: bytes("invited's id")))
    let exported = try bytes("exported key")
    let scalar = try scalar(#require(fields["code"]), invited: invited)
    #expect(try scalar.password.withBytes { Array($0) } == bytes("w"))
    var a = try TypedCodeExchange(
      .inviter, scalar, inviter: inviter, exportedKey: exported, secret: secret(#require(fields["x"])))
    var b = try TypedCodeExchange(
      .invited, scalar, inviter: inviter, exportedKey: exported, secret: secret(#require(fields["y"])))
    #expect(try a.share == bytes("pA"))
    #expect(try b.share == bytes("pB"))
    let fromA = try a.take(remoteShare: b.share)
    let fromB = try b.take(remoteShare: a.share)
    #expect(try fromA == bytes("cA"))
    #expect(try fromB == bytes("cB"))
    #expect(a.verifies(fromB) && b.verifies(fromA))
    // The values in between, by the definitions of section 4.
    let parts = try [
      Array("piconet inviter\0".utf8) + inviter.bytes, Array("piconet invited\0".utf8) + invited.bytes, a.share,
      b.share, bytes("K"), bytes("w"),
    ]
    let transcript = parts.flatMap { part in
      (0..<8).map { UInt8(truncatingIfNeeded: part.count >> (8 * $0)) } + part
    }
    let ka = try bytes("Ka")
    #expect(Array(sha256(transcript)[16...]) == ka)
    var keys = [UInt8](repeating: 0, count: 32)
    let info = Array("ConfirmationKeys".utf8) + exported
    #expect(piconet_hkdf_sha256(ka, ka.count, info, info.count, &keys, keys.count) == 1)
    #expect(try keys == bytes("KcA") + bytes("KcB"))
  }

  @Test(
    "two ends of a link that know one code confirm it to each other; another code, key, link or role confirms nothing")
  func bound() throws {
    let pair = try ChannelPair.secured()
    let keys = [pair.client, pair.server].map { $0.exportedKey(label: TypedCodeExchange.exporterLabel) }
    #expect(keys[0] == keys[1] && keys[0].count == 32)
    #expect(keys[0] != pair.client.exportedKey(label: ShortCode.exporterLabel))
    let right = try scalar("042917")
    let a = try TypedCodeExchange(.inviter, right, inviter: inviter, exportedKey: keys[0])
    let b = try TypedCodeExchange(.invited, right, inviter: inviter, exportedKey: keys[1])
    #expect(try outcome(a, b) == [true, true])

    let stranger = try #require(PeerID(bytes: 0x70..<0x90))
    let others = [
      try TypedCodeExchange(.invited, scalar("042916"), inviter: inviter, exportedKey: keys[1]),
      try TypedCodeExchange(.invited, right, inviter: stranger, exportedKey: keys[1]),
      try TypedCodeExchange(.invited, scalar("042917", invited: stranger), inviter: inviter, exportedKey: keys[1]),
      try TypedCodeExchange(.invited, right, inviter: inviter, exportedKey: exported),
      // An attacker in the middle gives the inviter back what an inviter says.
      try TypedCodeExchange(.inviter, right, inviter: inviter, exportedKey: keys[1]),
    ]
    for other in others { #expect(try outcome(a, other) == [false, false]) }
  }

  @Test("a confirmation is taken only whole, only after the share, and not one's own")
  func confirmations() throws {
    let right = try scalar("042917")
    var a = try TypedCodeExchange(.inviter, right, inviter: inviter, exportedKey: exported)
    var b = try TypedCodeExchange(.invited, right, inviter: inviter, exportedKey: exported)
    #expect(!a.verifies([]) && !a.verifies([UInt8](repeating: 0, count: 32)))
    let fromB = try b.take(remoteShare: a.share)
    #expect(!a.verifies(fromB))
    let fromA = try a.take(remoteShare: b.share)
    #expect(a.verifies(fromB) && b.verifies(fromA))
    #expect(!a.verifies(fromA) && !b.verifies(fromB))
    #expect(!a.verifies(Array(fromB.dropLast())) && !a.verifies(fromB + [0]) && !a.verifies([]))
    for bit in 0..<256 {
      var wrong = fromB
      wrong[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(!a.verifies(wrong))
    }
    #expect(throws: SecureChannelFailure.self) { try a.take(remoteShare: a.share) }
  }

  @Test("a recording of one exchange is of no use in the next")
  func replayed() throws {
    let right = try scalar("042917")
    var a = try TypedCodeExchange(.inviter, right, inviter: inviter, exportedKey: exported)
    var b = try TypedCodeExchange(.invited, right, inviter: inviter, exportedKey: exported)
    let fromB = try b.take(remoteShare: a.share)
    let fromA = try a.take(remoteShare: b.share)
    var next = try TypedCodeExchange(.invited, right, inviter: inviter, exportedKey: exported)
    _ = try next.take(remoteShare: a.share)
    #expect(!next.verifies(fromA))
    var again = try TypedCodeExchange(.inviter, right, inviter: inviter, exportedKey: exported)
    _ = try again.take(remoteShare: b.share)
    #expect(!again.verifies(fromB))
  }

  @Test("a code is 6 to 16 digits, with spaces and hyphens where people put them")
  func parsing() throws {
    #expect(TypedCode("042917")?.digits == "042917")
    #expect(TypedCode(" 042 917 ")?.digits == "042917")
    #expect(TypedCode("042-917")?.digits == "042917")
    #expect(TypedCode("0123456789012345")?.grouped == "012 345 678 901 234 5")
    for text in ["", "04291", "01234567890123456", "04291a", "042917\n", "٠٤٢٩١٧", "042_917", "+42917", "      "] {
      #expect(TypedCode(text) == nil, "\(text)")
    }
  }

  @Test("made codes have six digits, leading zeros among them, and are spread")
  func random() throws {
    let codes = try (0..<2_000).map { _ in try TypedCode.random() }
    #expect(codes.allSatisfy { $0.digits.utf8.count == 6 && TypedCode($0.digits) == $0 })
    // Of 2,000 drawn from a million, about two are equal.
    #expect(Set(codes).count > 1_980)
    let tens = Set(codes.map { $0.digits.prefix(1) })
    #expect(tens.count == 10)
  }

  @Test("a code is not in what is printed of it")
  func unprinted() throws {
    let code = try #require(TypedCode("042917"))
    var dumped = ""
    dump(code, to: &dumped)
    for text in ["\(code)", String(reflecting: code), dumped, "\([code])"] {
      #expect(!text.contains("042917") && !text.contains("042 917"), "\(text)")
    }
  }
}
