import Foundation

/// Dictionary keys as code for Apple's systems writes them, `peerID as NSCopying`: Foundation on Linux takes only
/// `AnyHashable` there.
extension NSMutableDictionary {
  /// Sets the value of a key that is an object of Foundation or of this module.
  public func setObject(_ object: Any, forKey key: any NSCopying) {
    if let key = key as? AnyHashable { setObject(object, forKey: key) }
  }

  /// The value of a key; nil removes it.
  public subscript(key: any NSCopying) -> Any? {
    get { object(forKey: key) }
    set { if let newValue { setObject(newValue, forKey: key) } else { removeObject(forKey: key) } }
  }
}
