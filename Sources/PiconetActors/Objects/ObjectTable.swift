import Distributed
import Piconet
import PiconetCalls
import Synchronization

/// The objects of this node: the published ones, under their paths, and all objects in this process, so that one that
/// comes back as an argument is the same object again.
final class ObjectTable: Sendable {
  /// A class, so that a call copies nothing of it.
  final class Published: Sendable {
    let interface: RemoteInterface
    let methods: RemoteInterface.BoundMethods
    /// The methods of `objectInterface`.
    let common: RemoteInterface.BoundMethods

    init(
      interface: RemoteInterface, methods: RemoteInterface.BoundMethods, common: RemoteInterface.BoundMethods
    ) {
      self.interface = interface
      self.methods = methods
      self.common = common
    }
  }

  /// The parts that serve one call.
  struct Served: Sendable {
    let method: BoundMethod
    private let object: Published
    private let isCommon: Bool

    /// - Returns: nil if the object has no such method.
    init?(_ method: String, isCommon: Bool, of object: Published) {
      guard let bound = (isCommon ? object.common : object.methods)[method] else { return nil }
      self.method = bound
      self.object = object
      self.isCommon = isCommon
    }

    var interface: RemoteInterface { isCommon ? objectInterface : object.interface }
  }

  /// Until an object is published, only its program keeps it alive.
  private struct Reference: @unchecked Sendable {
    // Sendable: a weak reference to an actor, used under the table's lock only.
    weak var actor: (any DistributedActor)?
  }

  private struct State {
    var published: [String: Published] = [:]
    /// The paths of the same object: the one from when it was made, and the one where it was published.
    var paths: [String: String] = [:]
  }

  private struct Actors {
    var all: [String: Reference] = [:]
    var last = UInt64.random(in: 0..<1 << 32)
  }

  private let state = Mutex(State())
  /// Under a separate lock: an object reports its end when the last reference is released, wherever that is.
  private let actors = Mutex(Actors())

  /// Makes a path that no object of this process has had.
  func newPath() -> String {
    let number = actors.withLock { actors in
      actors.last += 1
      return actors.last
    }
    return "/_/\(String(number, radix: 16))"
  }

  func ready(_ actor: any DistributedActor, at path: String) {
    actors.withLock { $0.all[path] = Reference(actor: actor) }
  }

  func resigned(_ path: String) { actors.withLock { _ = $0.all.removeValue(forKey: path) } }

  /// Returns the object at a path of either kind.
  func actor(at path: String) -> (any DistributedActor)? {
    let path = state.withLock { $0.paths[path] } ?? path
    return actors.withLock { $0.all[path]?.actor }
  }

  func publish(_ published: Published, at path: String, as own: String) throws(RemoteCallError) {
    let isFree = state.withLock { state in
      guard state.published[path] == nil else { return false }
      state.published[path] = published
      state.published[own] = published
      state.paths[path] = own
      return true
    }
    if !isFree { throw RemoteCallError(.invalidArgument, detail: "there is an object at \(path) already") }
  }

  func unpublish(_ path: String) {
    let removed = state.withLock { state -> [Published?] in
      guard let own = state.paths.removeValue(forKey: path) else { return [] }
      let published = state.published.removeValue(forKey: path)
      if state.paths.values.contains(own) { return [published] }
      return [published, state.published.removeValue(forKey: own)]
    }
    // An object whose last reference is released may use this table. Not under the lock, where optimised code would
    // release it.
    withExtendedLifetime(removed) {}
  }

  func removeAll() {
    let published = state.withLock { state in
      defer { state = State() }
      return state.published
    }
    withExtendedLifetime(published) {}
  }

  /// Descriptions of the published objects whose paths begin with this, in the order of paths.
  func descriptions(under prefix: String) -> [ObjectDescription] {
    let paths = state.withLock { state in state.paths.keys.map { ($0, state.published[$0]?.interface) } }
    return paths.compactMap { path, interface in
      guard let interface, path.hasPrefix(prefix) else { return nil }
      return ObjectDescription(path: path, interface: InterfaceDescription(interface))
    }.sorted { $0.path < $1.path }
  }

  func isPublished(_ path: String) -> Bool { state.withLock { $0.published[path] != nil } }

  /// Returns the method that serves a call.
  func served(_ call: CallFrame.Call) throws(CallFailure) -> Served {
    guard let object = state.withLock({ $0.published[call.path] }) else {
      throw CallFailure(.noSuchObject, "there is no object at \(call.path)")
    }
    let isCommon = call.interface != object.interface.name && call.interface == objectInterface.name
    guard isCommon || object.interface.name == call.interface else {
      throw CallFailure(.unknownInterface, "\(call.path) has no \(call.interface)")
    }
    guard call.version >= UInt64(isCommon ? objectInterface.oldest : object.interface.oldest) else {
      let interface = isCommon ? objectInterface : object.interface
      throw CallFailure(
        .wrongVersion, "\(interface.name) is served from version \(interface.oldest) on; the caller has \(call.version)"
      )
    }
    guard let served = Served(call.method, isCommon: isCommon, of: object) else {
      let interface = isCommon ? objectInterface : object.interface
      if call.version > UInt64(interface.version) {
        throw CallFailure(
          .wrongVersion,
          "\(interface.name) is served in version \(interface.version), without \(call.method); the caller has \(call.version)"
        )
      }
      throw CallFailure(.unknownMethod, "\(interface.name) has no \(call.method)")
    }
    return served
  }
}
