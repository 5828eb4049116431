/// Floating-point numbers of 16 bits (IEEE 754 binary16), which Swift lacks on some platforms.
enum CBORHalf {
  /// Returns the number of these bits.
  static func value(of bits: UInt16) -> Double {
    let isNegative = bits & 0x8000 != 0
    let exponent = Int(bits >> 10) & 0x1F
    let fraction = Double(bits & 0x3FF)
    let magnitude: Double =
      switch exponent {
      case 0: fraction * 0x1p-24
      case 31: fraction == 0 ? .infinity : .nan
      default: (fraction + 1024) * Double(sign: .plus, exponent: exponent - 25, significand: 1)
      }
    return isNegative ? -magnitude : magnitude
  }

  /// Returns the bits that are exactly this number; nil if no bits are. All NaNs have the same bits.
  static func bits(of number: Float) -> UInt16? {
    if number.isNaN { return 0x7E00 }
    let sign: UInt16 = number.sign == .minus ? 0x8000 : 0
    if number.isInfinite { return sign | 0x7C00 }
    let magnitude = number.magnitude
    if magnitude == 0 { return sign }
    guard magnitude <= 65_504 else { return nil }
    if magnitude >= 0x1p-14 {
      let pattern = magnitude.bitPattern
      guard pattern & 0x1FFF == 0 else { return nil }
      let exponent = UInt16((pattern >> 23) - 112)
      return sign | exponent << 10 | UInt16((pattern >> 13) & 0x3FF)
    }
    // Less than 1,024 units.
    let units = magnitude * 0x1p24
    let whole = UInt16(units)
    return Float(whole) == units ? sign | whole : nil
  }
}
