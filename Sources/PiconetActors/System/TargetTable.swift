import Distributed
import Synchronization

/// Which method of which interface the compiler's name for a call means. Looked up once for each.
final class TargetTable: Sendable {
  /// An object, so that a call copies none of it.
  final class Target: Sendable {
    let interface: RemoteInterface
    let method: MethodDescription

    init(interface: RemoteInterface, method: MethodDescription) {
      self.interface = interface
      self.method = method
    }
  }

  private struct Key: Hashable {
    let object: ObjectIdentifier
    let identifier: String
  }

  private let known = Mutex<[Key: Target]>([:])

  /// - Throws: `notDeclared`.
  func target(_ target: RemoteCallTarget, of type: any Any.Type) throws(RemoteCallError) -> Target {
    let key = Key(object: ObjectIdentifier(type), identifier: target.identifier)
    if let target = known.withLock({ $0[key] }) { return target }
    guard let object = type as? any RemoteObject.Type else {
      throw RemoteCallError(.notDeclared, detail: "\(type) is no RemoteObject")
    }
    let interface = object.interface
    guard let method = interface.method(of: target.description) else {
      throw RemoteCallError(.notDeclared, detail: "\(interface.name) does not declare \(target)")
    }
    let found = Target(interface: interface, method: method)
    known.withLock { $0[key] = found }
    return found
  }
}
