import PiconetEngine
import PiconetWire

/// Decides which partial files of a directory go. The simulator has no file system: its caller supplies the decision
/// that real directories use.
protocol PartialFileChoice: Sendable {
  /// How many are kept.
  var limit: Int { get }
  /// For how many seconds each is kept.
  var age: Int64 { get }

  /// The numbers of those whose removal frees `missing` bytes for a new file; none if nothing does.
  func toFree(_ missing: UInt64, for new: SimulatedPartial, of files: [SimulatedPartial]) -> [Int]

  /// The numbers of those that go whenever one more is kept.
  func toRemove(of files: [SimulatedPartial]) -> [Int]
}

/// What is stored of a file that is not whole.
struct SimulatedPartial: Hashable, Sendable {
  /// Whose share it takes.
  enum Share: Hashable {
    case known(PeerID)
    /// All strangers share one.
    case strangers
  }

  /// Unique within its directory.
  let number: Int
  let sender: PeerID
  let isOfStranger: Bool
  /// Bytes that it takes on the disk.
  var byteCount: UInt64
  /// Seconds for which it has waited.
  var age: Int64 = 0
  /// A transfer is writing it.
  var isOpen = false
  /// A later transfer can go on with it.
  var isOfUse = true

  var share: Share { isOfStranger ? .strangers : .known(sender) }
}

/// The partial files of a node, and the disk that they are on.
struct SimulatedPartials {
  /// Bytes that they may take together.
  var capacity: UInt64 = .max
  private(set) var files: [SimulatedPartial] = []
  /// Those that transfers are writing.
  private var open: [TransferID: Int] = [:]
  private var nextNumber = 0

  var used: UInt64 { files.reduce(0) { $0 + $1.byteCount } }
  var free: UInt64 { capacity - min(capacity, used) }

  /// A file that is not there yet.
  mutating func new(of sender: PeerID, isStranger: Bool, byteCount: UInt64) -> SimulatedPartial {
    nextNumber += 1
    return SimulatedPartial(number: nextNumber, sender: sender, isOfStranger: isStranger, byteCount: byteCount)
  }

  mutating func append(_ file: SimulatedPartial) { files.append(file) }

  /// A transfer begins it; all its bytes are set aside.
  mutating func append(_ file: SimulatedPartial, writtenBy transfer: TransferID) {
    var file = file
    file.isOpen = true
    files.append(file)
    open[transfer] = file.number
  }

  mutating func remove(_ numbers: [Int]) { files.removeAll { numbers.contains($0.number) } }

  /// The transfer has stored all of it, or no transfer will go on with it.
  mutating func drop(_ transfer: TransferID) {
    guard let number = open.removeValue(forKey: transfer) else { return }
    files.removeAll { $0.number == number }
  }

  /// The transfer has ended, and what it has stored waits for the next one.
  /// - Returns: false if it had no file.
  mutating func keep(_ transfer: TransferID, stored: UInt64) -> Bool {
    guard let number = open.removeValue(forKey: transfer),
      let index = files.firstIndex(where: { $0.number == number })
    else { return false }
    files[index].isOpen = false
    files[index].isOfUse = stored > 0
    files[index].byteCount = min(files[index].byteCount, stored)
    return true
  }

  /// The process has died.
  mutating func closeAll() {
    open = [:]
    for index in files.indices { files[index].isOpen = false }
  }
}
