import Foundation

/// A delegate that its owner does not retain, and that any thread may set and read.
///
/// Unchecked: the one variable is read and written under the lock.
final class DelegateReference: @unchecked Sendable {
  private let lock = NSLock()
  private weak var object: AnyObject?

  var value: AnyObject? {
    get { lock.withLock { object } }
    set { lock.withLock { object = newValue } }
  }
}
