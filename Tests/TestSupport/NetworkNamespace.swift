import Foundation
import Glibc

/// Runs shell scripts in a network, mount and process namespace of their own, where there is only loopback and nothing
/// gets out.
///
/// The kernel ends everything that a script leaves running, with its process namespace.
package enum NetworkNamespace {
  /// What every script has: loopback up, an empty /run, and a way to wait for a line.
  private static let prelude = """
    set -u
    ip link set lo up
    mount -t tmpfs tmpfs /run
    # until_line FILE PATTERN: at most a minute, for a busy machine.
    until_line() {
      for _ in $(seq 1200); do grep -q -- "$2" "$1" 2>/dev/null && return 0; sleep 0.05; done
      echo "missing: $2 in $1"; cat "$1"; return 1
    }
    stop() { kill -TERM "$1"; wait "$1"; }

    """

  /// True if this machine lets us make namespaces.
  package static let isAvailable: Bool = {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/unshare")
    process.arguments = options + ["bash", "-c", "ip link set lo up && mount -t tmpfs tmpfs /run"]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }()

  /// True if avahi-daemon, its tools and a D-Bus daemon are installed.
  package static var hasAvahi: Bool {
    ["/usr/sbin/avahi-daemon", "/usr/bin/avahi-browse", "/usr/bin/avahi-publish-service", "/usr/bin/dbus-daemon"]
      .allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// A system bus and an avahi-daemon for a script, which can end the daemon by `no_avahi` and start it again by
  /// `avahi`. Prints `no avahi` and ends the script if the daemon can't be started.
  /// - Parameter settings: lines of its section `server`.
  package static func avahi(settings: [String]) -> String {
    """
    mkdir -p /run/dbus /run/avahi-daemon
    cat > /run/bus.conf <<'END'
    <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
     "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
    <busconfig><type>session</type><listen>unix:path=/run/dbus/system_bus_socket</listen><auth>EXTERNAL</auth>
    <policy context="default"><allow user="*"/><allow own="*"/><allow send_type="method_call"/>
    <allow send_destination="*"/><allow receive_sender="*"/></policy></busconfig>
    END
    printf '%s\n' '[server]' host-name=avahihost \(settings.joined(separator: " ")) '[publish]' \
      publish-workstation=no > /run/avahi.conf
    export DBUS_SYSTEM_BUS_ADDRESS=unix:path=/run/dbus/system_bus_socket
    dbus-daemon --config-file=/run/bus.conf --nofork 2> /run/bus.log &
    for _ in $(seq 1200); do [ -S /run/dbus/system_bus_socket ] && break; sleep 0.05; done
    avahi() {
      avahi-daemon --no-drop-root --no-rlimits --no-chroot -f /run/avahi.conf > /run/avahi.log 2>&1 & AVAHI=$!
      until_line /run/avahi.log "Server startup complete" || { echo "no avahi"; exit 0; }
    }
    no_avahi() { kill -TERM $AVAHI; wait $AVAHI; }
    avahi

    """
  }

  private static var options: [String] {
    (geteuid() == 0 ? [] : ["--map-root-user"]) + [
      "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
    ]
  }

  /// Runs a script for at most three minutes, or `seconds`.
  /// - Parameter variables: what it finds in its environment besides what this process has.
  package static func run(
    _ script: String, seconds: Int = 180, with variables: [String: String]
  ) async throws -> ProcessOutcome {
    try await ProcessOutcome.of(
      "/usr/bin/timeout",
      ["-s", "KILL", "\(seconds)", "/usr/bin/unshare"] + options + ["bash", "-c", prelude + script], with: variables)
  }
}
