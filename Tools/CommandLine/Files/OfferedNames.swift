import Piconet

/// The names under which the files of one command are offered, so that no two of them collide at a receiver. For each
/// name it keeps a number.
struct OfferedNames: Sendable {
  /// What distinguishes a file from others on this machine.
  struct Identity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
  }

  enum Answer: Hashable, Sendable {
    case free(AcceptableName)
    /// Another file has the name, so this one is offered under another.
    case numbered(AcceptableName)
    /// It is the very file that has the name.
    case sameFile
  }

  private var used: [Int: Int] = [:]

  /// - Parameters:
  ///   - identity: nil for anything but a file.
  ///   - isTaken: whether something else will have a name.
  mutating func take(
    _ name: AcceptableName, in folder: String, identity: Identity?, isTaken: (String) -> Bool = { _ in false }
  ) -> Answer {
    let own = identity.hashValue
    var (candidate, number) = (name, 1)
    while true {
      // The bytes: String compares canonically. Two paths with the same hash are given different names needlessly,
      // which does no harm.
      let hash = (Array(folder.utf8) + [0x2F] + Array(candidate.text.utf8)).hashValue
      let there = used[hash]
      if number == 1, identity != nil, there == own { return .sameFile }
      if there == nil, !isTaken(candidate.text) {
        used[hash] = own
        return number == 1 ? .free(candidate) : .numbered(candidate)
      }
      number += 1
      candidate = name.numbered(number)
    }
  }
}
