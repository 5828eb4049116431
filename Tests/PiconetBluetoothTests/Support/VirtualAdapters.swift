import Glibc
import PiconetSDP
import Testing

@testable import PiconetBluetooth

/// The adapters that tests may use: PICONET_ADAPTERS, such as `hci0,hci1`.
enum VirtualAdapters {
  static let names: [String] = (getenv("PICONET_ADAPTERS").map { String(cString: $0) } ?? "")
    .split(separator: ",").map(String.init)

  static let areThere = names.count >= 2

  static let reason: Comment = "needs two Bluetooth adapters: PICONET_ADAPTERS=hci0,hci1"

  static func device(_ index: Int) throws -> BluetoothAddress {
    try #require(try AdapterTable.read().adapter(.named(names[index]))).device
  }
}

/// Runs a program of the system, such as `hciconfig hci1 down`, and waits for its end.
func runProgram(_ words: String...) throws {
  var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
  defer { for argument in arguments { free(argument) } }
  arguments.append(nil)
  var process = pid_t()
  try #require(posix_spawnp(&process, words[0], nil, nil, arguments, environ) == 0, "\(words[0])")
  var status: Int32 = 0
  while waitpid(process, &status, 0) < 0 && errno == EINTR {}
  try #require(status == 0, "\(words.joined(separator: " "))")
}

func descriptorCount() -> Int {
  guard let directory = opendir("/proc/self/fd") else { return -1 }
  defer { closedir(directory) }
  var count = 0
  while readdir(directory) != nil { count += 1 }
  return count
}
