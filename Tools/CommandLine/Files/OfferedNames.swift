import Piconet

/// Which names the files of one command are offered under, so that no two of them meet at a receiver. Of each name it
/// keeps a number.
struct OfferedNames: Sendable {
  /// What tells a file from others on this machine.
  struct Identity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
  }

  enum Answer: Hashable, Sendable {
    case free(AcceptableName)
    /// Another file has the name: this one is offered under another.
    case numbered(AcceptableName)
    /// It is the file that has the name.
    case sameFile
  }

  private var used: [Int: Int] = [:]

  /// - Parameters:
  ///   - identity: nil for what is no file.
  ///   - isTaken: whether something else is to have a name.
  mutating func take(
    _ name: AcceptableName, in folder: String, identity: Identity?, isTaken: (String) -> Bool = { _ in false }
  ) -> Answer {
    let own = identity.hashValue
    var (candidate, number) = (name, 1)
    while true {
      // The bytes: String compares canonically. Two paths of one hash are told apart without need, which does no harm.
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
