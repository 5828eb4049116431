import Piconet
import PiconetCalls

/// The options of a claim to a name that another node has, or that another node claims later.
public struct NameOptions: OptionSet, Sendable, Hashable {
  /// The options as bits.
  public let rawValue: UInt64
  /// Creates options with these bits; further ones have no effect.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// A node that claims the name with `replacesExisting` gets it.
  public static let allowsReplacement = NameOptions(rawValue: 1)
  /// Takes the name from an owner that allows it.
  public static let replacesExisting = NameOptions(rawValue: 2)
  /// Waits for the name if another node has it. Without it the claim ends there.
  public static let queues = NameOptions(rawValue: 4)
}

/// The result of a claim to a name.
@nonexhaustive
public enum NameStanding: Sendable, Hashable {
  /// This node has the name. It may lose it to a node that may replace it, or to one that has claimed it in the same
  /// moment and could not be asked. It may also lose it when a part of the group comes back in which the name was
  /// claimed earlier. `ActorSystemEvent.ownerChanged` reports that.
  case owner
  /// This many nodes get the name before this one.
  case queued(Int)
  /// Another node has it, and the claim has ended.
  case taken(by: NodeID)
}

extension PiconetActorSystem {
  /// Claims a name in the session for this node: at most one of its members has it at a time. Returns once the members
  /// that run an actor system have heard of the claim, or after five seconds.
  /// - Parameters:
  ///   - name: 1 to 127 bytes of ASCII letters and digits, `.`, `-` and `_`, such as `org.example.lamp`.
  ///   - options: default none: exclusive, and not queued.
  /// - Throws: `invalidArgument` for another name, or the 65th; `cancelled`: the name is then released.
  @discardableResult
  public func claim(_ name: String, _ options: NameOptions = []) async throws(RemoteCallError) -> NameStanding {
    guard CallLimits.isName(name), !name.contains("(") else {
      throw RemoteCallError(
        .invalidArgument, detail: "'\(name)' is no name: 1 to 127 bytes of ASCII letters and digits, '.', '-' and '_'")
    }
    let isTaken = await names.claim(name, .init(rawValue: options.rawValue & 7))
    guard isTaken else { throw RemoteCallError(.invalidArgument, detail: "a node has 64 names at most") }
    if Task.isCancelled {
      release(name)
      throw RemoteCallError(.cancelled, detail: "the calling task was cancelled")
    }
    switch names.standing(for: name) {
    case .owner: return .owner
    case .queued(let count): return .queued(count)
    case .none: return .taken(by: names.owner(of: name) ?? node.id)
    }
  }

  /// Gives a name back, or ends the wait for it. The next node that waits for it gets it.
  public func release(_ name: String) { names.release(name) }

  /// Returns the node that has the name, among this node and its members, as far as this node knows.
  public func owner(of name: String) -> NodeID? { names.owner(of: name) }
}
