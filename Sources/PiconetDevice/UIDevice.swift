public import Foundation
import Glibc

/// This device, for programs that use `UIDevice.current` to name themselves or to distinguish devices. It replaces the
/// one class of Apple's UIKit that networking code uses; nothing else of UIKit is here.
///
/// Any thread may use it, while Apple's is for the main actor: code in either place compiles.
public final class UIDevice: NSObject, Sendable {
  public static let current = UIDevice()

  private override init() { super.init() }

  /// What people call this device: its pretty host name (machine-info(5)), or its host name. Never empty.
  public var name: String {
    let host = ProcessInfo.processInfo.hostName
    return MachineInfo.prettyName(in: MachineInfo.text) ?? (host.isEmpty ? "Linux" : host)
  }

  /// "Linux".
  public var systemName: String { "Linux" }

  /// The version of the kernel, such as "6.1.0".
  public var systemVersion: String {
    let version = ProcessInfo.processInfo.operatingSystemVersion
    return "\(version.majorVersion).\(version.minorVersion).\(version.patchVersion)"
  }

  /// The processor's architecture, such as "x86_64".
  public var model: String {
    var names = utsname()
    guard uname(&names) == 0 else { return systemName }
    return withUnsafeBytes(of: &names.machine) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }

  public var localizedModel: String { model }

  /// A random number for this user on this device, the same at each start and in all programs. It is made at its first
  /// use, in `$XDG_STATE_HOME/piconet/identifier-for-vendor`. Nil if no file can be kept.
  public var identifierForVendor: UUID? { VendorIdentifier.current }
}
