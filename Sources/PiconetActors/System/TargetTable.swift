import Distributed
import Synchronization

/// The methods that the compiler's names for calls mean. Each name is looked up once.
final class TargetTable: Sendable {
  /// A class, so that a call copies nothing of it.
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

  /// A method that is declared without labels.
  private struct Entry: Hashable {
    let object: ObjectIdentifier
    let method: String
  }

  private struct State {
    var known: [Key: Target] = [:]
    /// The names with labels that have come to each entry without labels: more than one are refused.
    var names: [Entry: Set<String>] = [:]
  }

  private let state = Mutex(State())

  /// - Throws: `notDeclared`.
  func target(_ target: RemoteCallTarget, of type: any Any.Type) throws(RemoteCallError) -> Target {
    let key = Key(object: ObjectIdentifier(type), identifier: target.identifier)
    if let target = state.withLock({ $0.known[key] }) { return target }
    guard let object = type as? any RemoteObject.Type else {
      throw RemoteCallError(.notDeclared, detail: "\(type) is no RemoteObject")
    }
    let interface = object.interface
    let name = DistributedMethods.name(of: target)
    guard let method = interface.method(of: name) else {
      throw RemoteCallError(.notDeclared, detail: "\(interface.name) does not declare \(target)")
    }
    let found = Target(interface: interface, method: method)
    let names = state.withLock { state -> [String] in
      if method.name != name {
        let entry = Entry(object: key.object, method: method.name)
        state.names[entry, default: []].insert(name)
        if let names = state.names[entry], names.count > 1 {
          state.known = state.known.filter { $0.key.object != key.object || $0.value.method.name != method.name }
          return names.sorted()
        }
      }
      state.known[key] = found
      return []
    }
    guard names.isEmpty else {
      throw RemoteCallError(
        .notDeclared,
        detail: """
          '\(method.name)' of \(interface.name) may be \(names.joined(separator: " or ")): \
          methods of one name are declared with their labels
          """)
    }
    return found
  }
}
