import Foundation
import Testing

@Suite("udev's rules")
struct RulesTests {
  static let files = ["72-piconet.rules", "72-piconet-awake.rules"]

  static func text(_ name: String) throws -> String {
    try String(contentsOf: root.appending(path: "udev/\(name)"), encoding: .utf8)
  }

  /// What `udevadm test` says about the rules of `folder`, read from a /run of its own. None of our rules is for the
  /// device that it is given.
  static func complaints(about folder: String) throws -> [Substring] {
    let script = """
      set -e
      rules=$(mktemp -d); cp "$1"/*.rules "$rules"
      mount -t tmpfs run /run; mkdir -p /run/udev/rules.d; cp "$rules"/*.rules /run/udev/rules.d; rm -r "$rules"
      device=$(find /sys/devices/virtual/misc -mindepth 1 -maxdepth 1 ! -name rfkill | head -n 1)
      SYSTEMD_LOG_LEVEL=debug exec udevadm test --action=add "$device"
      """
    let said = try Command("unshare", "--mount", "--map-root-user", "sh", "-c", script, "sh", folder)
    let read = said.lines.filter { $0.contains("Reading rules file: /run/udev/rules.d/") }
    #expect(
      read.count
        == (try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".rules") }).count)
    return said.lines.filter {
      $0.contains("/run/udev/rules.d/") && !$0.contains("Reading rules file") && !$0.contains("group 'bluetooth'")
    }
  }

  static let canAskUdev = Machine.hasUdevadm && Machine.canHideRun

  @Test(
    "udev reads every line without a complaint",
    .enabled(if: canAskUdev, "needs udevadm and a mount namespace"))
  func udevUnderstands() throws {
    let complaints = try Self.complaints(about: root.appending(path: "udev").path(percentEncoded: false))
    #expect(complaints.isEmpty, "\(complaints.joined(separator: "\n"))")
  }

  @Test(
    "udev's complaint about a wrong line would be seen",
    .enabled(if: canAskUdev, "needs udevadm and a mount namespace"))
  func complaintsAreSeen() throws {
    let folder = try Folder()
    for wrong in ["NOTHING==\"x\", MODE=\"0664\"\n", "KERNEL=\"rfkill\"\n", "GOTO=\"nowhere\"\n"] {
      try wrong.write(toFile: folder.path + "/72-piconet.rules", atomically: true, encoding: .utf8)
      #expect(try !Self.complaints(about: folder.path).isEmpty, "\(wrong)")
    }
  }

  @Test("every rule has a comment above it that explains it", arguments: files)
  func everyLineIsExplained(name: String) throws {
    let lines = try Self.text(name).split(separator: "\n", omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() where !line.isEmpty && !line.hasPrefix("#") && !line.hasPrefix("LABEL=") {
      #expect(index > 0 && lines[index - 1].hasPrefix("# "), "\(name):\(index + 1)")
    }
  }

  @Test("rules run no program, and open nothing to all users", arguments: files)
  func rulesAreHarmless(name: String) throws {
    let rules = try Self.text(name).split(separator: "\n").filter { !$0.hasPrefix("#") }
    #expect(!rules.isEmpty)
    for rule in rules {
      for word in ["RUN", "PROGRAM", "IMPORT{program}", "0666", "SYSTEMD_WANTS", "OWNER"] {
        #expect(!rule.contains(word), "\(rule)")
      }
    }
  }

  @Test("every rule and every option of the installation is in udev/README.md")
  func theReadmeTellsAll() throws {
    let readme = try Self.text("README.md")
    for word in Self.files + ["72-piconet-adapters.rules", "--adapter", "--keep-awake", "--uninstall", "--dry-run"] {
      #expect(readme.contains(word), "\(word)")
    }
  }
}
