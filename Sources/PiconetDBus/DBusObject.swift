import PiconetDBusValues

/// An object of this process that other programs on the bus see.
package struct DBusObject {
  /// The answer to a call.
  package typealias Answer = Result<[DBusValue], DBusFailure>

  package var interface: String
  /// Read for each request, so that it is always up to date.
  package var properties: () -> [String: DBusValue]
  /// Answers a call to a method of the interface; nil: the interface has no such method.
  package var handle: (DBusArrival) -> Answer?

  static let unknownMethod = "org.freedesktop.DBus.Error.UnknownMethod"
  static let unknownProperty = "org.freedesktop.DBus.Error.UnknownProperty"

  private static let propertiesInterface = "org.freedesktop.DBus.Properties"

  package init(
    interface: String, properties: @escaping () -> [String: DBusValue], handle: @escaping (DBusArrival) -> Answer?
  ) {
    self.interface = interface
    self.properties = properties
    self.handle = handle
  }

  func answer(_ call: DBusArrival) -> Answer {
    if call.interface == interface || call.interface.isEmpty, let answer = handle(call) { return answer }
    guard call.interface == Self.propertiesInterface, call.arguments.first?.text == interface else {
      return .failure(DBusFailure(Self.unknownMethod, "no such method"))
    }
    switch call.member {
    case "GetAll": return .success([.properties(properties())])
    case "Get":
      guard call.arguments.count > 1, let name = call.arguments[1].text, let value = properties()[name] else {
        return .failure(DBusFailure(Self.unknownProperty, "no such property"))
      }
      return .success([.variant(value)])
    default: return .failure(DBusFailure(Self.unknownMethod, "the properties are read-only"))
    }
  }
}
