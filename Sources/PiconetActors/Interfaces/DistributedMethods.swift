import CPiconetActors
import Distributed

/// The distributed methods of protocols that are linked into this program. Swift offers no list of them. The compiler
/// makes one for its own way to serve calls, in a section of the program that this code reads.
///
/// Only a check depends on it. It finds no methods if the list is not as expected, or if the protocol is in another
/// image than this module or private to a file. A missing declaration then shows with the first call.
enum DistributedMethods {
  private static let all: [String] = (0..<piconet_distributed_method_count()).compactMap { index in
    piconet_distributed_method_name(index).map { String(cString: $0) }
  }

  /// Returns the names with labels of the methods that a protocol's stub may call, such as `concatenate(_:_:)`.
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

  /// Returns the method's own name of a target, without the name of its type before it.
  static func name(of target: RemoteCallTarget) -> String {
    let description = target.description
    return description.split(separator: ".").last.map(String.init) ?? description
  }
}
