import CPiconetOpenSSL
import PiconetEngine
import PiconetWire
import Testing

@testable import PiconetTLS

/// RFC 9382, appendix B: SPAKE2-P256-SHA256-HKDF-HMAC.
private struct Vector: Sendable, CustomTestStringConvertible {
  var a: String
  var b: String
  var w: String
  var x: String
  var y: String
  var shareA: String
  var shareB: String
  var element: String
  var macA: String
  var macB: String

  var testDescription: String { "A='\(a)', B='\(b)'" }

  static let all = [
    Vector(
      a: "server", b: "client",
      w: "2ee57912099d31560b3a44b1184b9b4866e904c49d12ac5042c97dca461b1a5f",
      x: "43dd0fd7215bdcb482879fca3220c6a968e66d70b1356cac18bb26c84a78d729",
      y: "dcb60106f276b02606d8ef0a328c02e4b629f84f89786af5befb0bc75b6e66be",
      shareA: "04a56fa807caaa53a4d28dbb9853b9815c61a411118a6fe516a8798434751470f9"
        + "010153ac33d0d5f2047ffdb1a3e42c9b4e6be662766e1eeb4116988ede5f912c",
      shareB: "0406557e482bd03097ad0cbaa5df82115460d951e3451962f1eaf4367a420676d0"
        + "9857ccbc522686c83d1852abfa8ed6e4a1155cf8f1543ceca528afb591a1e0b7",
      element: "0412af7e89717850671913e6b469ace67bd90a4df8ce45c2af19010175e37eed69"
        + "f75897996d539356e2fa6a406d528501f907e04d97515fbe83db277b715d3325",
      macA: "58ad4aa88e0b60d5061eb6b5dd93e80d9c4f00d127c65b3b35b1b5281fee38f0",
      macB: "d3e2e547f1ae04f2dbdbf0fc4b79f8ecff2dff314b5d32fe9fcef2fb26dc459b"),
    Vector(
      a: "", b: "client",
      w: "0548d8729f730589e579b0475a582c1608138ddf7054b73b5381c7e883e2efae",
      x: "403abbe3b1b4b9ba17e3032849759d723939a27a27b9d921c500edde18ed654b",
      y: "903023b6598908936ea7c929bd761af6039577a9c3f9581064187c3049d87065",
      shareA: "04a897b769e681c62ac1c2357319a3d363f610839c4477720d24cbe32f5fd85f44"
        + "fb92ba966578c1b712be6962498834078262caa5b441ecfa9d4a9485720e918a",
      shareB: "04e0f816fd1c35e22065d5556215c097e799390d16661c386e0ecc84593974a61b"
        + "881a8c82327687d0501862970c64565560cb5671f696048050ca66ca5f8cc7fc",
      element: "048f83ec9f6e4f87cc6f9dc740bdc2769725f923364f01c84148c049a39a735ebd"
        + "a82eac03e00112fd6a5710682767cff5361f7e819e53d8d3c3a2922e0d837aa6",
      macA: "47d29e6666af1b7dd450d571233085d7a9866e4d49d2645e2df975489521232b",
      macB: "3313c5cefc361d27fb16847a91c2a73b766ffa90a4839122a9b70a2f6bd1d6df"),
    Vector(
      a: "server", b: "",
      w: "626e0cdc7b14c9db3e52a0b1b3a768c98e37852d5db30febe0497b14eae8c254",
      x: "07adb3db6bc623d3399726bfdbfd3d15a58ea776ab8a308b00392621291f9633",
      y: "b6a4fc8dbb629d4ba51d6f91ed1532cf87adec98f25dd153a75accafafedec16",
      shareA: "04f88fb71c99bfffaea370966b7eb99cd4be0ff1a7d335caac4211c4afd855e2e1"
        + "5a873b298503ad8ba1d9cbb9a392d2ba309b48bfd7879aefd0f2cea6009763b0",
      shareB: "040c269d6be017dccb15182ac6bfcd9e2a14de019dd587eaf4bdfd353f031101e7"
        + "cca177f8eb362a6e83e7d5e729c0732e1b528879c086f39ba0f31a9661bd34db",
      element: "0445ee233b8ecb51ebd6e7da3f307e88a1616bae2166121221fdc0dadb986afaf3"
        + "ec8a988dc9c626fa3b99f58a7ca7c9b844bb3e8dd9554aafc5b53813504c1cbe",
      macA: "bc9f9bbe99f26d0b2260e6456e05a86196a3307ec6663a18bf6ac825736533b2",
      macB: "c2370e1bf813b086dff0d834e74425a06e6390f48f5411900276dcccc5a297ec"),
    Vector(
      a: "", b: "",
      w: "7bf46c454b4c1b25799527d896508afd5fc62ef4ec59db1efb49113063d70cca",
      x: "8cef65df64bb2d0f83540c53632de911b5b24b3eab6cc74a97609fd659e95473",
      y: "d7a66f64074a84652d8d623a92e20c9675c61cb5b4f6a0063e4648a2fdc02d53",
      shareA: "04a65b367a3f613cf9f0654b1b28a1e3a8a40387956c8ba6063e8658563890f46c"
        + "a1ef6a676598889fc28de2950ab8120b79a5ef1ea4c9f44bc98f585634b46d66",
      shareB: "04589f13218822710d98d8b2123a079041052d9941b9cf88c6617ddb2fcc049466"
        + "2eea8ba6b64692dc318250030c6af045cb738bc81ba35b043c3dcb46adf6f58d",
      element: "041a3c03d51b452537ca2a1fea6110353c6d5ed483c4f0f86f4492ca3f378d40a9"
        + "94b4477f93c64d928edbbcd3e85a7c709b7ea73ee97986ce3d1438e135543772",
      macA: "dfb4db8d48ae5a675963ea5e6c19d98d4ea028d8e898dad96ea19a80ade95dca",
      macB: "d0f0609d1613138d354f7e95f19fb556bf52d751947241e8c7118df5ef0ae175"),
  ]
}

func unhex(_ text: String) throws -> [UInt8] { try #require([UInt8](hexadecimal: text)) }

func secret(_ text: String) throws -> SecretBytes {
  let given = try unhex(text)
  return SecretBytes(count: given.count) { bytes in for index in given.indices { bytes[index] = given[index] } }
}

@Suite struct SPAKE2Tests {
  private let vector = Vector.all[0]

  private func context(_ vector: Vector, additionalData: [UInt8] = []) -> SPAKE2.Context {
    SPAKE2.Context(
      identityA: Array(vector.a.utf8), identityB: Array(vector.b.utf8), additionalData: additionalData)
  }

  private func side(
    _ role: SPAKE2.Role, _ vector: Vector, w: String? = nil, additionalData: [UInt8] = []
  ) throws -> SPAKE2 {
    try SPAKE2(
      role, context(vector, additionalData: additionalData), password: secret(w ?? vector.w),
      secret: secret(role == .a ? vector.x : vector.y))
  }

  @Test("both sides compute the values of RFC 9382, appendix B", arguments: Vector.all)
  private func published(_ vector: Vector) throws {
    let a = try side(.a, vector)
    let b = try side(.b, vector)
    #expect(try a.share == unhex(vector.shareA))
    #expect(try b.share == unhex(vector.shareB))
    let macs = (try unhex(vector.macA), try unhex(vector.macB))
    #expect(try a.confirmations(remoteShare: b.share) == SPAKE2.Confirmations(own: macs.0, expected: macs.1))
    #expect(try b.confirmations(remoteShare: a.share) == SPAKE2.Confirmations(own: macs.1, expected: macs.0))
  }

  @Test("the group element is that of RFC 9382, appendix B, from either side", arguments: Vector.all)
  private func element(_ vector: Vector) throws {
    let w = try unhex(vector.w)
    var element = [UInt8](repeating: 0, count: 65)
    #expect(try piconet_spake2_group_element(1, w, unhex(vector.x), unhex(vector.shareB), &element) == 1)
    #expect(try element == unhex(vector.element))
    #expect(try piconet_spake2_group_element(0, w, unhex(vector.y), unhex(vector.shareA), &element) == 1)
    #expect(try element == unhex(vector.element))
  }

  @Test("with another password, context or role nothing is confirmed")
  func nothingConfirmed() throws {
    let a = try side(.a, vector, additionalData: [1])
    let good = try side(.b, vector, additionalData: [1])
    #expect(
      try a.confirmations(remoteShare: good.share).expected == good.confirmations(remoteShare: a.share).own)

    var named = vector
    named.b = "Client"
    // A length that moves one byte from one identity to the other.
    var moved = vector
    moved.a = "serve"
    moved.b = "rclient"
    let others = [
      try side(.b, vector, w: Vector.all[1].w, additionalData: [1]),
      try side(.b, vector, additionalData: [2]),
      try side(.b, vector),
      try side(.b, named, additionalData: [1]),
      try side(.b, moved, additionalData: [1]),
      try side(.a, vector, w: Vector.all[1].w, additionalData: [1]),
    ]
    for other in others {
      let here = try a.confirmations(remoteShare: other.share)
      let there = try other.confirmations(remoteShare: a.share)
      #expect(here.expected != there.own && there.expected != here.own)
    }
    // Two parties A with the same password: each masks with M, and takes off N.
    let twin = try SPAKE2(.a, context(vector, additionalData: [1]), password: secret(vector.w))
    #expect(try a.confirmations(remoteShare: twin.share).expected != twin.confirmations(remoteShare: a.share).own)
  }

  @Test("shares that are no point of the group are refused")
  func badShares() throws {
    let a = try side(.a, vector)
    let good = try unhex(vector.shareB)
    var beside = good
    beside[64] ^= 1
    var hybrid = good
    hybrid[0] = 6 | good[64] & 1
    let zeros = [UInt8](repeating: 0, count: 65)
    var origin = zeros
    origin[0] = 4
    // A coordinate that is the field's prime, and so 0 again: one point must not have two encodings.
    let prime = "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff"
    let root = "66485c780e2f83d72433bd5d84a06bb6541c2af31dae871728bf856a174f93f4"
    let zeroX = try unhex("04" + String(repeating: "00", count: 32) + root)
    let beyond = try unhex("04" + prime + root)
    let compressed = [2 | good[64] & 1] + good[1...32]
    let refused: [[UInt8]] = [
      [], [0], [4], zeros, origin, beside, hybrid, beyond, compressed, compressed + [UInt8](repeating: 0, count: 32),
      Array(good.dropLast()), good + [0],
    ]
    for share in refused {
      let failure = #expect(throws: SecureChannelFailure.self) { try a.confirmations(remoteShare: share) }
      #expect(failure?.code == .protocolViolation, "\(share)")
    }
    #expect(throws: Never.self) { try a.confirmations(remoteShare: zeroX) }
    #expect(throws: Never.self) { try a.confirmations(remoteShare: good) }
    #expect(ERR_peek_error() == 0)
  }

  @Test("a side's own share that comes back, and one that is only the mask, are refused")
  func reflected() throws {
    let a = try side(.a, vector)
    let reflection = #expect(throws: SecureChannelFailure.self) { try a.confirmations(remoteShare: a.share) }
    #expect(reflection?.code == .protocolViolation)
    // w*N alone, from a secret that is the order: the shared element would be the identity.
    let w = try unhex(vector.w)
    var one = [UInt8](repeating: 0, count: 32)
    one[31] = 1
    var share = [UInt8](repeating: 0, count: 65)
    let order = try unhex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
    #expect(piconet_spake2_share(0, w, order, &share) == 1)
    let mask = #expect(throws: SecureChannelFailure.self) { try a.confirmations(remoteShare: share) }
    #expect(mask?.code == .protocolViolation)
    // With 1 in its place it is a share like any other.
    #expect(piconet_spake2_share(0, w, one, &share) == 1)
    #expect(throws: Never.self) { try a.confirmations(remoteShare: share) }
  }

  @Test("each run has a secret of its own")
  func fresh() throws {
    let shares = try (0..<20).map { _ in
      try SPAKE2(.b, context(vector), password: secret(vector.w)).share
    }
    #expect(Set(shares).count == 20 && shares.allSatisfy { $0.count == 65 && $0[0] == 4 })
  }

  @Test("a wide number is reduced by the order of the group")
  func reduction() throws {
    let order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"
    let expected: [(String, String)] = [
      (String(repeating: "00", count: 8) + order, String(repeating: "00", count: 32)),
      (String(repeating: "00", count: 39) + "05", String(repeating: "00", count: 31) + "05"),
      // 2^320 - 1, by Python's integers.
      (
        String(repeating: "ff", count: 40),
        "fffffffe00000001431905529c0166cd22159165b6faae70f756a571fc632550"
      ),
    ]
    for (wide, scalar) in expected {
      let reduced = try SPAKE2.scalar(reducing: secret(wide))
      #expect(try reduced.withBytes { Array($0) } == unhex(scalar), "\(wide)")
    }
  }
}
