/// What a node tells about the group that it is in, so that places are counted for the whole group.
public struct GroupView: Hashable, Sendable {
  /// The number of members that the sender's session has room for, itself included.
  public var capacity: UInt64
  /// The smallest capacity that the sender knows of in its group, its own included.
  public var smallest: UInt64
  /// The sender's rank in its group: a node that came earlier has a smaller one. 0 if the sender is in no group.
  public var rank: UInt64
  /// The largest rank that the sender knows of in its group.
  public var highest: UInt64
  /// The incarnations of the nodes that hold a place in its group, itself not included, in ascending order.
  public var members: [Incarnation]

  public init(capacity: UInt64, smallest: UInt64, rank: UInt64, highest: UInt64, members: [Incarnation] = []) {
    self.capacity = capacity
    self.smallest = smallest
    self.rank = rank
    self.highest = highest
    self.members = members
  }
}

// MARK: - Bytes

extension GroupView {
  init(from reader: inout ByteReader) throws(WireError) {
    capacity = try reader.integer("capacity")
    smallest = try reader.integer("smallest capacity")
    guard capacity >= Self.leastCapacity, smallest >= Self.leastCapacity else {
      throw reader.malformed("a capacity below \(Self.leastCapacity)")
    }
    rank = try reader.integer("rank")
    highest = try reader.integer("highest rank")
    guard highest >= rank else { throw reader.malformed("the highest rank is below the sender's") }
    members = []
    while !reader.isAtEnd {
      guard members.count < WireLimits.groupMembers else {
        throw reader.malformed("more than \(WireLimits.groupMembers) members")
      }
      let member = Incarnation(rawValue: try HelloCodec.word(&reader, "incarnation"))
      if let last = members.last, last.rawValue >= member.rawValue { throw reader.malformed("members out of order") }
      members.append(member)
    }
  }

  func append(to body: inout [UInt8]) {
    for number in [capacity, smallest, rank, highest] { VariableInteger.append(number, to: &body) }
    for member in members { FrameEncoder.appendWord(member.rawValue, to: &body) }
  }

  /// The smallest number of members that make a session.
  public static let leastCapacity: UInt64 = 2
}
