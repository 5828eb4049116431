import PiconetEngine
import PiconetWire

/// Messages from one node to another, over all their connections: which were sent, and which arrived.
struct Flows {
  struct Key: Hashable {
    let from: NodeID
    let to: NodeID
    var channel: MessageChannel = 0
  }

  struct Sending {
    var reliable: [Int] = []
    var unreliable = 0
    var isOpen = true
  }

  struct Receiving {
    /// The sender's epoch that matches this one, once a message has shown it.
    var sending: Int?
    var reliable: [Int] = []
    /// The newest unreliable message.
    var unreliable = -1
    var isOpen = true
  }

  private(set) var sendings: [Key: [Sending]] = [:]
  private(set) var receivings: [Key: [Receiving]] = [:]
  /// The keys in the order in which their flows began, so that no dictionary's order reaches a finding.
  private(set) var keys: [Key] = []

  mutating func connected(_ node: NodeID, with peer: NodeID, in channels: [MessageChannel]) {
    for channel in channels {
      let out = Key(from: node, to: peer, channel: channel)
      keys.append(out)
      sendings[out, default: []].append(Sending())
      receivings[Key(from: peer, to: node, channel: channel), default: []].append(Receiving())
    }
  }

  mutating func disconnected(_ node: NodeID, from peer: NodeID) {
    for key in keys where key.from == node && key.to == peer { close(key) }
  }

  mutating func crashed(_ node: NodeID) {
    for key in keys where key.from == node { close(key) }
  }

  private mutating func close(_ out: Key) {
    let back = Key(from: out.to, to: out.from, channel: out.channel)
    if let last = sendings[out]?.indices.last { sendings[out]?[last].isOpen = false }
    if let last = receivings[back]?.indices.last { receivings[back]?[last].isOpen = false }
  }

  /// Returns the epoch and the number of the next message; nil while the two are not connected.
  mutating func take(_ key: Key, size: Int, isReliable: Bool) -> (epoch: Int, number: Int)? {
    guard let last = sendings[key]?.indices.last, sendings[key]?[last].isOpen == true else { return nil }
    if isReliable {
      sendings[key]?[last].reliable.append(size)
      return (last, (sendings[key]?[last].reliable.count ?? 1) - 1)
    }
    sendings[key]?[last].unreliable += 1
    return (last, (sendings[key]?[last].unreliable ?? 1) - 1)
  }

  /// Returns the fault of a delivered message, or nil.
  mutating func came(_ bytes: Bytes, _ key: Key, from: Int, to: Int, isReliable: Bool) -> String? {
    guard let current = receivings[key]?.indices.last, receivings[key]?[current].isOpen == true else {
      return "a message from a node that is not connected"
    }
    let place = receivings[key]?[current].reliable.count ?? 0
    if isReliable { receivings[key]?[current].reliable.append(bytes.count) }
    guard let header = MessageContent.header(of: bytes) else {
      return isReliable ? nil : "an unreliable message of \(bytes.count) bytes was not sent"
    }
    guard header.size == bytes.count, header.from == from, header.to == to, header.channel == key.channel,
      header.isReliable == isReliable,
      ByteComparison.areEqual(bytes, MessageContent.bytes(header)[...])
    else { return "a message that was not sent so: \(header), \(bytes.count) bytes" }
    let bound = receivings[key]?[current].sending
    if let bound, bound != header.epoch { return "a message of time \(header.epoch) in time \(bound)" }
    if bound == nil {
      if receivings[key]?.contains(where: { $0.sending == header.epoch }) == true {
        return "messages of one time of the sender in two of the receiver"
      }
      receivings[key]?[current].sending = header.epoch
    }
    if isReliable {
      return header.number == place ? nil : "message \(header.number) in place \(place)"
    }
    let newest = receivings[key]?[current].unreliable ?? -1
    receivings[key]?[current].unreliable = max(newest, header.number)
    return header.number > newest ? nil : "unreliable message \(header.number) after \(newest)"
  }

  /// Compares everything that arrived with everything that was sent.
  /// - Parameter isQuiet: whether all nodes are connected and nothing is under way. In that case open flows must be
  ///   complete.
  func compare(isQuiet: Bool) -> String? {
    for key in keys {
      for receiving in receivings[key] ?? [] {
        guard let epoch = receiving.sending, let sending = sendings[key]?[epoch] else { continue }
        guard receiving.reliable.count <= sending.reliable.count else { return "more messages came than were sent" }
        for (index, size) in receiving.reliable.enumerated() where sending.reliable[index] != size {
          return "message \(index) has \(size) bytes, sent were \(sending.reliable[index])"
        }
        if isQuiet, receiving.isOpen, sending.isOpen, receiving.reliable.count != sending.reliable.count {
          return "\(receiving.reliable.count) of \(sending.reliable.count) reliable messages came, and the rest is lost"
        }
      }
    }
    return nil
  }

  /// Returns a finding if messages were sent between connected nodes and not one of them arrived.
  func lostAltogether() -> String? {
    for key in keys {
      guard let sending = sendings[key]?.last, sending.isOpen, !sending.reliable.isEmpty,
        let receiving = receivings[key]?.last, receiving.isOpen, receiving.reliable.isEmpty
      else { continue }
      return "\(sending.reliable.count) reliable messages were sent, and none came"
    }
    return nil
  }
}
