import PiconetWire

/// A digest of 32 bytes over all bytes, in place of SHA-256. Any changed, lost, added or moved byte changes it, and it
/// is cheap without optimisation. It is no defence against an attacker, which the simulator does not need.
enum CheapDigest {
  static func of(_ bytes: [UInt8]) -> [UInt8] {
    var first: UInt64 = 0x9E37_79B9_7F4A_7C15 &+ UInt64(bytes.count)
    var second: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    bytes.withUnsafeBytes { raw in
      var index = 0
      while index + 8 <= raw.count {
        let word = raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        first = (first ^ word) &* 0xFF51_AFD7_ED55_8CCD
        first ^= first >> 29
        second = second &+ first
        index += 8
      }
      while index < raw.count {
        first = (first ^ UInt64(raw[index])) &* 0x0000_0100_0000_01B3
        first ^= first >> 29
        second = second &+ first
        index += 1
      }
    }
    var digest: [UInt8] = []
    for word in [mix(first), mix(second), mix(first &+ second), mix(first ^ second &* 3)] {
      for shift: UInt64 in [0, 8, 16, 24, 32, 40, 48, 56] { digest.append(UInt8(truncatingIfNeeded: word >> shift)) }
    }
    return digest
  }

  static func resource(_ bytes: [UInt8]) -> ResourceDigest? { ResourceDigest(sha256: of(bytes)) }

  private static func mix(_ word: UInt64) -> UInt64 {
    var mixed = (word ^ (word >> 33)) &* 0xC4CE_B9FE_1A85_EC53
    mixed = (mixed ^ (mixed >> 29)) &* 0x9FB2_1C65_1E98_DF25
    return mixed ^ (mixed >> 32)
  }
}
