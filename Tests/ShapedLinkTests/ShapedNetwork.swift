import Foundation
import Glibc
import TestSupport

/// Runs a shell script in namespaces of its own, with two hosts `a` (10.78.0.1) and `b` (10.78.0.2) at the ends of a
/// `shaped-link`.
///
/// In the script: `on a COMMAND`, `on b COMMAND`; `shape cut`, `shape rate=2000`; `until_line FILE PATTERN`; `peak
/// PID`, the most memory that a process has had, in KiB. The kernel ends what the script leaves running, with its
/// process namespace.
enum ShapedNetwork {
  private static let prelude = """
    set -u
    mount -t tmpfs -o size=3G tmpfs /run
    mkdir -p /run/netns /run/in /run/state/a /run/state/b
    ip link set lo up
    for host in a b; do ip netns add $host; ip netns exec $host ip link set lo up; done
    on() {
      local host=$1; shift
      XDG_STATE_HOME=/run/state/$host PICONET_INTERFACES=shaped,lo exec ip netns exec $host "$@"
    }
    # until_line FILE PATTERN: at most a minute.
    until_line() {
      for _ in $(seq 1200); do grep -q -- "$2" "$1" 2>/dev/null && return 0; sleep 0.05; done
      echo "missing: $2 in $1"; cat "$1"; return 1
    }
    mkfifo /run/control
    exec 7<>/run/control
    begin() {
      "$TOOLS/shaped-link" /run/netns/a 10.78.0.1 /run/netns/b 10.78.0.2 "$@" </run/control >/run/shaped 2>&1 &
      until_line /run/shaped READY
    }
    shape() {
      local before; before=$(grep -c ok /run/shaped)
      echo "$*" >&7
      for _ in $(seq 200); do [ "$(grep -c ok /run/shaped)" -gt "$before" ] && return 0; sleep 0.05; done
      echo "shaped-link does not obey: $*"; return 1
    }
    peak() { sed -n 's/^VmHWM:[^0-9]*\\([0-9]*\\) kB/\\1/p' "/proc/$1/status"; }

    """

  /// Where the build put the executables of this package.
  private static var tools: String {
    let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    var candidates = [URL(filePath: program), URL(filePath: CommandLine.arguments[0])]
    candidates += Bundle.allBundles.map(\.bundleURL)
    for candidate in candidates {
      let directory = candidate.deletingLastPathComponent().path
      if FileManager.default.isExecutableFile(atPath: directory + "/shaped-link") { return directory }
    }
    return "."
  }

  /// What this machine lacks to make the network; nil if it lacks nothing.
  static let lack: String? = {
    guard access("/dev/net/tun", R_OK | W_OK) == 0 else { return "this machine has no /dev/net/tun for us" }
    guard geteuid() == 0 else { return "named network namespaces need root" }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/unshare")
    process.arguments = options + ["bash", "-c", prelude + "begin && shape rate=1000"]
    process.environment = ProcessInfo.processInfo.environment.merging(variables) { _, new in new }
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return "there is no unshare" }
    process.waitUntilExit()
    return process.terminationStatus == 0 ? nil : "this machine lets us make no network namespaces with TUN devices"
  }()

  private static var variables: [String: String] { ["TOOLS": tools] }

  private static let options = ["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]

  /// Runs a script for at most `seconds`.
  static func run(link: String, seconds: Int = 120, _ script: String) async throws -> ProcessOutcome {
    try await ProcessOutcome.of(
      "/usr/bin/timeout",
      ["-s", "KILL", "\(seconds)", "/usr/bin/unshare"] + options + [
        "bash", "-c", prelude + "begin \(link)\n" + script,
      ],
      with: variables)
  }
}

extension ProcessOutcome {
  /// What follows `name: ` at the start of a line.
  func value(_ name: String) -> String? {
    output.split(separator: "\n").first { $0.hasPrefix("\(name): ") }.map { String($0.dropFirst(name.count + 2)) }
  }
}
