import Piconet

extension PiconetActorSystem {
  /// Returns the members that have objects with an interface. It asks all members at once. Members that do not answer
  /// in time are left out, and so are members whose policy does not let them be asked.
  /// - Parameters:
  ///   - interface: its full name.
  ///   - version: only in this version or a later one. Default 1: any.
  ///   - time: how long to wait. Default 5 s.
  public func objects(
    withInterface interface: String, from version: Int = 1, within time: Duration = .seconds(5)
  ) async -> [Member: [ObjectDescription]] {
    await withTaskGroup(of: (Member, [ObjectDescription]).self) { group in
      for member in members.keys {
        group.addTask { [self] in
          let all = try? await CallDeadline.within(time) { try await objects(of: member) }
          return (member, (all ?? []).filter { $0.interface.name == interface && $0.interface.version >= version })
        }
      }
      var found: [Member: [ObjectDescription]] = [:]
      for await (member, objects) in group where !objects.isEmpty { found[member] = objects }
      return found
    }
  }
}
