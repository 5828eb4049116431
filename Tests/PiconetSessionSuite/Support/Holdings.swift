import Foundation
import TestSupport
import Glibc

/// What this process holds, and what bluetoothd and the bus hold for it: counted before and after.
struct Holdings: Equatable, CustomStringConvertible {
  var descriptors: Int
  /// The threads of nodes; those of the standard library come and go at any time.
  var threads: Int
  /// What each adapter advertises and serves, and how many connections, names and match rules the bus has. Empty except
  /// in the virtual machine, where nothing else changes them.
  var registrations: [String]

  static func now() -> Holdings {
    Holdings(
      descriptors: descriptorCount(), threads: threadNames().count { $0.hasPrefix("piconet") },
      registrations: registeredNow())
  }

  var description: String { "\(descriptors) descriptors, \(threads) threads, \(registrations)" }

  static let countsRegistrations = ProcessInfo.processInfo.environment["PICONET_BLUETOOTH_VM"] == "1"

  private static func registeredNow() -> [String] {
    guard countsRegistrations else { return [] }
    let adapters = SuiteTransport.adapters.map { adapter in
      """
      echo \(adapter) $(ask --dest=org.bluez /org/bluez/\(adapter) $all.GetAll string:org.bluez.Adapter1 |
        grep -o '[0-9a-f]*-[0-9a-f-]* ' | sort) \
        $(ask --dest=org.bluez /org/bluez/\(adapter) $all.GetAll string:org.bluez.LEAdvertisingManager1 | grep -A 1 ActiveInstances)
      """
    }
    return output(
      """
      ask() { dbus-send --system --print-reply=literal "$@" 2>&1; }
      all=org.freedesktop.DBus.Properties
      \(adapters.joined(separator: "\n"))
      ask --dest=org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus.Debug.Stats.GetStats |
        grep -A 1 -E ' (ActiveConnections|MatchRules|BusNames)' | tr -s ' \\n' ' '
      """
    ).split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
  }

  static func output(_ command: String) -> String {
    guard let pipe = popen(command, "r") else { return "popen: \(errno)" }
    defer { pclose(pipe) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = fread(&buffer, 1, buffer.count, pipe)
      if count == 0 { break }
      bytes += buffer.prefix(count)
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
