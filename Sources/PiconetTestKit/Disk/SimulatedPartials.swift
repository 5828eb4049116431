import PiconetEngine
import PiconetWire

/// Decides which partial files of a directory are removed. The simulator has no file system: its caller supplies the
/// decision that real directories use.
protocol PartialFileChoice: Sendable {
  /// The number of files that are kept.
  var limit: Int { get }
  /// The number of seconds for which each file is kept.
  var age: Int64 { get }

  /// Returns the numbers of the files whose removal frees `missing` bytes for a new file; none if no removal does.
  func toFree(_ missing: UInt64, for new: SimulatedPartial, of files: [SimulatedPartial]) -> [Int]

  /// Returns the numbers of the files that are removed whenever one more is kept.
  func toRemove(of files: [SimulatedPartial]) -> [Int]
}

/// The stored part of an incomplete file.
struct SimulatedPartial: Hashable, Sendable {
  /// The share that the file counts against.
  enum Share: Hashable {
    case known(PeerID)
    /// The common share of all strangers.
    case strangers
  }

  /// Unique within its directory.
  let number: Int
  let sender: PeerID
  let isOfStranger: Bool
  /// The bytes that it occupies on the disk.
  var byteCount: UInt64
  /// The number of seconds for which it has waited.
  var age: Int64 = 0
  /// Whether a transfer is writing it.
  var isOpen = false
  /// Whether a later transfer can continue it.
  var isOfUse = true

  var share: Share { isOfStranger ? .strangers : .known(sender) }
}

/// The partial files of a node, and the disk that holds them.
struct SimulatedPartials {
  /// The number of bytes that all files may occupy together.
  var capacity: UInt64 = .max
  private(set) var files: [SimulatedPartial] = []
  /// The files that transfers are writing.
  private var open: [TransferID: Int] = [:]
  private var nextNumber = 0

  var used: UInt64 { files.reduce(0) { $0 + $1.byteCount } }
  var free: UInt64 { capacity - min(capacity, used) }

  /// Makes a file that does not exist yet.
  mutating func new(of sender: PeerID, isStranger: Bool, byteCount: UInt64) -> SimulatedPartial {
    nextNumber += 1
    return SimulatedPartial(number: nextNumber, sender: sender, isOfStranger: isStranger, byteCount: byteCount)
  }

  mutating func append(_ file: SimulatedPartial) { files.append(file) }

  /// Adds a file that a transfer begins. All its bytes are reserved.
  mutating func append(_ file: SimulatedPartial, writtenBy transfer: TransferID) {
    var file = file
    file.isOpen = true
    files.append(file)
    open[transfer] = file.number
  }

  mutating func remove(_ numbers: [Int]) { files.removeAll { numbers.contains($0.number) } }

  /// Drops a file that is stored completely, or that no transfer will continue.
  mutating func drop(_ transfer: TransferID) {
    guard let number = open.removeValue(forKey: transfer) else { return }
    files.removeAll { $0.number == number }
  }

  /// Keeps the file of a transfer that has ended. The stored bytes wait for the next transfer.
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

  /// Closes all files, because the process has died.
  mutating func closeAll() {
    open = [:]
    for index in files.indices { files[index].isOpen = false }
  }
}
