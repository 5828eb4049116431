import PiconetWire

/// Compares bytes a word at a time. Without optimisation the standard library's `==` takes each byte through a witness.
enum ByteComparison {
  static func areEqual(_ left: Bytes, _ right: Bytes) -> Bool {
    guard left.count == right.count else { return false }
    return left.withUnsafeBytes { left in
      right.withUnsafeBytes { right in
        var index = 0
        while index + 8 <= left.count {
          guard
            left.loadUnaligned(fromByteOffset: index, as: UInt64.self)
              == right.loadUnaligned(fromByteOffset: index, as: UInt64.self)
          else { return false }
          index += 8
        }
        while index < left.count {
          guard left[index] == right[index] else { return false }
          index += 1
        }
        return true
      }
    }
  }
}
