import Foundation
import Testing

/// The root of this checkout.
let root: URL = {
  var url = URL(filePath: #filePath)
  for _ in 0..<3 { url.deleteLastPathComponent() }
  return url
}()

/// What one command said, and its exit status.
struct Command {
  let status: Int32
  let output: String

  /// Runs `words`, for at most `seconds`; output and errors come together.
  init(_ words: String..., environment: [String: String] = [:], seconds: Int = 30) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["timeout", "-k", "2", "\(seconds)"] + words
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
    process.currentDirectoryURL = root
    process.standardInput = FileHandle.nullDevice
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let bytes = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    status = process.terminationStatus
    output = String(decoding: bytes, as: UTF8.self)
  }

  var lines: [Substring] { output.split(separator: "\n") }
}

/// What this machine has.
enum Machine {
  static func has(_ command: String) -> Bool { (try? Command("sh", "-c", "command -v \(command)"))?.status == 0 }

  static let isRoot = getuid() == 0
  static let hasUdevadm = has("udevadm")
  static let udevRuns = FileManager.default.fileExists(atPath: "/run/udev/control")
  static let udevd = ["/lib/systemd/systemd-udevd", "/usr/lib/systemd/systemd-udevd"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }
  /// A mount namespace of our own, in which /run is ours: udevadm reads /run/udev/rules.d.
  static let canHideRun =
    (try? Command("unshare", "--mount", "--map-root-user", "mount", "-t", "tmpfs", "run", "/run"))?
    .status == 0

  static let adapters = (ProcessInfo.processInfo.environment["PICONET_ADAPTERS"] ?? "").split(separator: ",").map(
    String.init)
  static let adaptersAreEmulated =
    !adapters.isEmpty
    && adapters.allSatisfy { FileManager.default.fileExists(atPath: "/sys/devices/virtual/bluetooth/\($0)") }
  /// Whether this is the emulated machine: root, emulated adapters, and no running udev.
  static let isOurs = isRoot && adaptersAreEmulated && !udevRuns && hasUdevadm && udevd != nil
}

/// A folder that is removed with the value.
final class Folder {
  let path: String

  init() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "piconet-udev-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    path = url.path(percentEncoded: false)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The names of the files in rules.d of an installation into this folder.
  var rules: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path + "/etc/udev/rules.d")) ?? []).sorted()
  }
}
