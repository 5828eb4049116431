import CPiconetSystem

/// What the system lets this process have, as far as a program can be too little for it. Pure, but for `current`.
struct ResourceLimits: Hashable, Sendable {
  /// Descriptors that it may have open at once.
  var descriptors: UInt64
  /// Bytes of address space in all, and those that are left; the largest number: no limit.
  var addressSpace = UInt64.max
  var addressSpaceLeft = UInt64.max

  /// What a program needs to send or store a single file.
  static let leastDescriptors: [String: UInt64] = ["imagerecv": 24]
  static let usualLeastDescriptors: UInt64 = 16
  /// Threads, buffers and keys. With less, allocations fail, and the language's runtime ends without a word.
  static let leastAddressSpace: UInt64 = 48 << 20

  /// Raises the limit on descriptors as far as this process may, and prepares for one on address space. Call it while
  /// there is no other thread.
  static func prepare() -> ResourceLimits {
    piconet_raise_descriptor_limit()
    let left = piconet_fit_address_space()
    return ResourceLimits(
      descriptors: piconet_descriptor_limit(), addressSpace: piconet_address_space_limit(), addressSpaceLeft: left)
  }

  /// Why nothing can work, and what to do; nil: it can.
  func problem(program: String) -> String? {
    let least = Self.leastDescriptors[program] ?? Self.usualLeastDescriptors
    if descriptors < least {
      return "only \(descriptors) files may be open at once here, and \(least) are needed: raise the limit (ulimit -n)"
    }
    if addressSpaceLeft < Self.leastAddressSpace {
      let needed = (addressSpace - addressSpaceLeft + Self.leastAddressSpace + 999_999) / 1_000_000
      return "the limit on memory is \(addressSpace / 1_000_000) MB, and \(needed) MB are needed: "
        + "raise it (ulimit -v)"
    }
    return nil
  }
}
