import Piconet

/// The names under which the files of one command are offered, so that no two of them collide at a receiver. For each
/// name it keeps a number.
struct OfferedNames: Sendable {
  /// The properties that distinguish a file from others on this machine.
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
  /// The number of the names of files that belong together.
  private var numbers: [Int: Int] = [:]

  /// Files that belong together, in one directory of this machine: all of them get the same number.
  struct Group: Hashable, Sendable {
    let directory: [UInt8]
    let stem: String
    /// The names of all.
    let names: [AcceptableName]
  }

  /// As `take(_:in:identity:)`, for a file that belongs together with others.
  mutating func take(
    _ name: AcceptableName, in folder: String, identity: Identity, of group: Group
  ) -> Answer {
    var hasher = Hasher()
    hasher.combine(group.directory)
    hasher.combine(group.stem)
    hasher.combine(Array(folder.utf8))
    let mark = hasher.finalize()
    let number = numbers[mark] ?? firstFree(for: group.names, in: folder)
    if numbers[mark] == nil {
      numbers[mark] = number
      for name in group.names { used[hash(name, number, folder)] = mark }
    }
    let own = hash(name, number, folder)
    if used[own] == Optional(identity).hashValue { return .sameFile }
    guard used[own] == mark else { return take(name, in: folder, identity: identity) }
    used[own] = Optional(identity).hashValue
    return number == 1 ? .free(name) : .numbered(name.numbered(number))
  }

  private func firstFree(for names: [AcceptableName], in folder: String) -> Int {
    var number = 1
    while names.contains(where: { used[hash($0, number, folder)] != nil }) { number += 1 }
    return number
  }

  private func hash(_ name: AcceptableName, _ number: Int, _ folder: String) -> Int {
    let name = number == 1 ? name : name.numbered(number)
    return (Array(folder.utf8) + [0x2F] + Array(name.text.utf8)).hashValue
  }

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
