import Glibc
import Testing

/// The virtual machine of `Tools/bluetooth-vm` in which a suite runs.
private enum Machine {
  private static func list(_ variable: String) -> Int {
    getenv(variable).map { String(cString: $0).split(separator: ",").count } ?? 0
  }

  static let adapters = list("PICONET_ADAPTERS")
  static let hosts = list("PICONET_BUSES")
  static let hasDisks = list("PICONET_DISKS") > 0
  static let isVirtual = getenv("PICONET_BLUETOOTH_VM") != nil

  /// Whether this machine was started with these options, as far as a test can tell.
  static func fits(_ options: String) -> Bool {
    let words = options.split(separator: " ")
    let needed = zip(words, words.dropFirst()).first { $0.0 == "--adapters" }.flatMap { Int($0.1) } ?? 2
    return adapters >= needed && (hosts > 0) == words.contains("--hosts") && hasDisks == words.contains("--disks")
  }
}

/// Where a suite may run besides the virtual machine.
package enum MachineAlternative: Sendable {
  case nowhere
  /// On adapters that `PICONET_ADAPTERS` names, as `Tools/test --hardware` does.
  case realAdapters
  /// Anywhere, since a part of it needs no adapters.
  case anywhere
}

extension Trait where Self == ConditionTrait {
  /// Runs the suite, or the test, in the virtual machine, and skips it on other machines.
  ///
  /// `Tools/test` finds these declarations in the sources, so write literals, in the attribute that stands before the
  /// suite's type or the test's function, with nothing of the kind between.
  ///
  /// - Parameters:
  ///   - shapes: options of `Tools/bluetooth-vm`; it runs in one machine of each.
  ///   - alone: whether nothing else runs in that machine, since it leaves adapters or bluetoothd changed, or is
  ///     disturbed by what others leave.
  ///   - long: whether it takes minutes, so that only `Tools/test --all` runs it.
  ///   - alternative: where else it may run.
  package static func machine(
    _ shapes: String..., alone: Bool = false, long: Bool = false, or alternative: MachineAlternative = .nowhere
  ) -> Self {
    let machines = shapes.map { "Tools/bluetooth-vm \($0)" }.joined(separator: ", or ")
    let place = long ? "takes minutes (Tools/test --all), in the virtual machine" : "runs in the virtual machine"
    let isHere =
      switch alternative {
      case .nowhere: Machine.isVirtual && shapes.contains(where: Machine.fits)
      case .realAdapters: shapes.contains(where: Machine.fits)
      case .anywhere: true
      }
    return .enabled(if: isHere, "\(place): \(machines)")
  }
}
