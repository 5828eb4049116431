import CPiconetActors
import Distributed

/// The distributed methods of protocols that are linked into this program. Swift offers no list of them; the compiler
/// makes one for its own way to serve calls, a section of the program that this reads.
///
/// Nothing but a check depends on it: where the list is not as expected, or the protocol is in another image than this
/// module or private to a file, none are found, and what is not declared shows with the first call.
enum DistributedMethods {
  private static let all: [String] = (0..<piconet_distributed_method_count()).compactMap { index in
    piconet_distributed_method_name(index).map { String(cString: $0) }
  }

  /// The names with labels of the methods that calls of a protocol's stub may be to, such as `concatenate(_:_:)`.
  /// - Parameter object: the protocol, as `(any Concatenating).self`.
  static func names(of object: Any.Type) -> [String] {
    guard let type = _mangledTypeName(object), type.hasSuffix("_p") else { return [] }
    let prefix = "$s" + type.dropLast(2) + "P"
    var names: [String] = []
    for name in all where name.hasPrefix(prefix) {
      let method = self.name(of: RemoteCallTarget(name))
      if !names.contains(method) { names.append(method) }
    }
    return names
  }

  /// The method's own name of a target, which has that of its type before it.
  static func name(of target: RemoteCallTarget) -> String {
    let description = target.description
    return description.split(separator: ".").last.map(String.init) ?? description
  }
}
