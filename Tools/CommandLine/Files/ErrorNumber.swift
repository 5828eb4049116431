import Glibc

/// Words for errno.
enum ErrorNumber {
  static func text(_ code: Int32) -> String {
    // strerror_r(3), because strerror may share one buffer between threads.
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      guard let address = buffer.baseAddress, strerror_r(code, address, buffer.count) == 0 else {
        return "error \(code)"
      }
      return String(cString: address)
    }
  }
}

/// The errno of a call that failed.
struct SystemFailure: Error, Hashable, Sendable {
  let number: Int32
}
