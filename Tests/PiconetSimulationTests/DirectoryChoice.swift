import PiconetWire

@testable import PiconetFiles
@testable import PiconetTestKit

/// Which partial files go as real directories decide it, with their limits.
struct DirectoryChoice: PartialFileChoice {
  let limit = IncomingDirectory.Settings().keptPartialLimit
  let age = IncomingDirectory.Settings().keptPartialAge

  func toFree(_ missing: UInt64, for new: SimulatedPartial, of files: [SimulatedPartial]) -> [Int] {
    let chosen = KeptPartials(files.map(Self.kept)).toFree(missing, size: new.byteCount, asker: Self.name(of: new))
    return Self.numbers(of: chosen, in: files)
  }

  func toRemove(of files: [SimulatedPartial]) -> [Int] {
    Self.numbers(of: KeptPartials(files.map(Self.kept)).toRemove(limit: limit, age: age), in: files)
  }

  private static func kept(_ file: SimulatedPartial) -> KeptPartial {
    KeptPartial(
      name: name(of: file), byteCount: file.byteCount, age: file.age, isAlive: file.isOpen, isOfUse: file.isOfUse)
  }

  /// Half of its digits stand for the sender, as in a directory, the others for the file.
  private static func name(of file: SimulatedPartial) -> PartialFileName {
    let sender = file.sender.bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return PartialFileName(kept: digits(sender) + digits(UInt64(file.number)), ofStranger: file.isOfStranger)
  }

  private static func digits(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  private static func numbers(of chosen: [KeptPartial], in files: [SimulatedPartial]) -> [Int] {
    let numbers = Dictionary(files.map { (name(of: $0), $0.number) }) { first, _ in first }
    return chosen.compactMap { numbers[$0.name] }
  }
}
