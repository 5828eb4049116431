import CSystemd
import Glibc
import PiconetDBusValues

/// A method call or a signal from another program, as it came in.
package struct DBusArrival {
  /// The unique name of the sender; set by the bus.
  package var sender: String
  package var path: String
  package var interface: String
  package var member: String
  package var arguments: [DBusValue]
}

/// Values into and out of sd-bus messages.
enum DBusMessage {
  /// sd-bus refused what we wanted to write or read; a negative errno.
  struct Refusal: Error { var code: Int32 }

  static func check(_ result: Int32) throws(Refusal) { if result < 0 { throw Refusal(code: result) } }

  // MARK: writing

  static func append(_ value: DBusValue, to message: OpaquePointer) throws(Refusal) {
    switch value {
    case .byte(let number): try appendBasic(number, "y", message)
    case .bool(let isTrue): try appendBasic(Int32(isTrue ? 1 : 0), "b", message)
    case .int16(let number): try appendBasic(number, "n", message)
    case .uint16(let number): try appendBasic(number, "q", message)
    case .int32(let number): try appendBasic(number, "i", message)
    case .uint32(let number): try appendBasic(number, "u", message)
    case .int64(let number): try appendBasic(number, "x", message)
    case .uint64(let number): try appendBasic(number, "t", message)
    case .double(let number): try appendBasic(number, "d", message)
    case .string(let text): try check(sd_bus_message_append_basic(message, type("s"), text))
    case .path(let text): try check(sd_bus_message_append_basic(message, type("o"), text))
    case .signature(let text): try check(sd_bus_message_append_basic(message, type("g"), text))
    case .descriptor(let number): try appendBasic(number, "h", message)
    case .bytes(let bytes): try check(sd_bus_message_append_array(message, type("y"), bytes, bytes.count))
    case .array(let element, let elements):
      try check(sd_bus_message_open_container(message, type("a"), element))
      for element in elements { try append(element, to: message) }
      try check(sd_bus_message_close_container(message))
    case .dictionary(let key, let value, let entries):
      try check(sd_bus_message_open_container(message, type("a"), "{\(key)\(value)}"))
      for entry in entries {
        try check(sd_bus_message_open_container(message, type("e"), "\(key)\(value)"))
        try append(entry.key, to: message)
        try append(entry.value, to: message)
        try check(sd_bus_message_close_container(message))
      }
      try check(sd_bus_message_close_container(message))
    case .structure(let fields):
      try check(sd_bus_message_open_container(message, type("r"), fields.map(\.typeSignature).joined()))
      for field in fields { try append(field, to: message) }
      try check(sd_bus_message_close_container(message))
    case .variant(let inner):
      try check(sd_bus_message_open_container(message, type("v"), inner.typeSignature))
      try append(inner, to: message)
      try check(sd_bus_message_close_container(message))
    }
  }

  private static func appendBasic<Number>(_ number: Number, _ letter: Unicode.Scalar, _ message: OpaquePointer)
    throws(Refusal)
  {
    let result = withUnsafePointer(to: number) { sd_bus_message_append_basic(message, type(letter), $0) }
    try check(result)
  }

  private static func type(_ letter: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: letter.value) }

  // MARK: reading

  /// Returns all arguments of a message, within the budget of one message.
  static func arguments(of message: OpaquePointer) -> Result<[DBusValue], DBusFailure> {
    var budget = DBusBudget()
    do {
      return .success(try readAll(message, &budget))
    } catch let excess as DBusBudget.Excess {
      return .failure(DBusFailure(DBusFailure.badAnswer, excess.description))
    } catch {
      return .failure(DBusFailure(DBusFailure.badAnswer, "a message that can't be read"))
    }
  }

  /// Reads up to the end of the message or of the container that was entered.
  private static func readAll(_ message: OpaquePointer, _ budget: inout DBusBudget) throws -> [DBusValue] {
    var values: [DBusValue] = []
    while sd_bus_message_at_end(message, 0) == 0 { values.append(try read(message, &budget)) }
    return values
  }

  private static func read(_ message: OpaquePointer, _ budget: inout DBusBudget) throws -> DBusValue {
    var letter: CChar = 0
    var contents: UnsafePointer<CChar>?
    let peeked = sd_bus_message_peek_type(message, &letter, &contents)
    try check(peeked)
    guard peeked > 0 else { throw Refusal(code: -EBADMSG) }
    let signature = contents.map { String(cString: $0) } ?? ""
    switch Unicode.Scalar(UInt8(bitPattern: letter)) {
    case "y": return .byte(try readBasic(message, letter, UInt8(0), &budget))
    case "b": return .bool(try readBasic(message, letter, Int32(0), &budget) != 0)
    case "n": return .int16(try readBasic(message, letter, 0, &budget))
    case "q": return .uint16(try readBasic(message, letter, 0, &budget))
    case "i": return .int32(try readBasic(message, letter, 0, &budget))
    case "u": return .uint32(try readBasic(message, letter, 0, &budget))
    case "x": return .int64(try readBasic(message, letter, 0, &budget))
    case "t": return .uint64(try readBasic(message, letter, 0, &budget))
    case "d": return .double(try readBasic(message, letter, 0, &budget))
    case "s": return .string(try readText(message, letter, &budget))
    case "o": return .path(try readText(message, letter, &budget))
    case "g": return .signature(try readText(message, letter, &budget))
    case "h":
      // A descriptor belongs to the message, which closes it.
      return .int32(try readBasic(message, letter, 0, &budget))
    case "a" where signature == "y":
      var start: UnsafeRawPointer?
      var count = 0
      try check(sd_bus_message_read_array(message, type("y"), &start, &count))
      try budget.take(bytes: count)
      return .bytes(start.map { Array(UnsafeRawBufferPointer(start: $0, count: count)) } ?? [])
    case "a":
      try check(sd_bus_message_enter_container(message, letter, signature))
      try budget.enter()
      let value: DBusValue
      if signature.hasPrefix("{"), signature.utf8.count >= 4 {
        var entries: [DBusEntry] = []
        while sd_bus_message_at_end(message, 0) == 0 { entries.append(try readEntry(message, signature, &budget)) }
        let types = signature.dropFirst().dropLast()
        value = .dictionary(key: String(types.prefix(1)), value: String(types.dropFirst()), entries)
      } else {
        value = .array(of: signature, try readAll(message, &budget))
      }
      budget.leave()
      try check(sd_bus_message_exit_container(message))
      return value
    case "r":
      try check(sd_bus_message_enter_container(message, letter, signature))
      try budget.enter()
      let fields = try readAll(message, &budget)
      budget.leave()
      try check(sd_bus_message_exit_container(message))
      return .structure(fields)
    case "v":
      try check(sd_bus_message_enter_container(message, letter, signature))
      try budget.enter()
      let inner = try read(message, &budget)
      budget.leave()
      try check(sd_bus_message_exit_container(message))
      return .variant(inner)
    default: throw Refusal(code: -EBADMSG)
    }
  }

  private static func readEntry(_ message: OpaquePointer, _ signature: String, _ budget: inout DBusBudget) throws
    -> DBusEntry
  {
    try check(sd_bus_message_enter_container(message, type("e"), String(signature.dropFirst().dropLast())))
    try budget.enter()
    let key = try read(message, &budget)
    let value = try read(message, &budget)
    budget.leave()
    try check(sd_bus_message_exit_container(message))
    return DBusEntry(key: key, value: value)
  }

  private static func readBasic<Number>(
    _ message: OpaquePointer, _ letter: CChar, _ zero: Number, _ budget: inout DBusBudget
  ) throws -> Number {
    try budget.take()
    var number = zero
    try check(withUnsafeMutablePointer(to: &number) { sd_bus_message_read_basic(message, letter, $0) })
    return number
  }

  private static func readText(_ message: OpaquePointer, _ letter: CChar, _ budget: inout DBusBudget) throws -> String {
    var text: UnsafePointer<CChar>?
    try check(withUnsafeMutablePointer(to: &text) { sd_bus_message_read_basic(message, letter, $0) })
    guard let text else { throw Refusal(code: -EBADMSG) }
    try budget.take(bytes: strlen(text))
    return String(cString: text)
  }
}
