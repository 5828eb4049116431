/// Why a call was not answered as expected.
public struct DBusFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The error's name on D-Bus, such as `org.bluez.Error.NotReady`; for failures on our own side one of the names
  /// below.
  public var name: String
  /// The other program's words, for logs: never parsed, cut to 200 bytes.
  public var message: String

  public init(_ name: String, _ message: String = "") {
    self.name = String(decoding: name.utf8.prefix(200), as: UTF8.self)
    self.message = String(decoding: message.utf8.prefix(200), as: UTF8.self)
  }

  public var description: String { message.isEmpty ? name : "\(name): \(message)" }

  /// No bus is available, or the connection to it broke.
  public static let disconnected = "org.freedesktop.DBus.Error.Disconnected"
  public static let noReply = "org.freedesktop.DBus.Error.NoReply"
  public static let timeout = "org.freedesktop.DBus.Error.Timeout"
  public static let accessDenied = "org.freedesktop.DBus.Error.AccessDenied"
  public static let serviceUnknown = "org.freedesktop.DBus.Error.ServiceUnknown"
  /// The answer breaks a limit or a type.
  public static let badAnswer = "org.freedesktop.DBus.Error.InvalidArgs"

  /// Whether it is unknown if the call was carried out.
  public var isUncertain: Bool { name == Self.noReply || name == Self.timeout || name == Self.disconnected }
}
