import PiconetActors
import PiconetCalls

/// The arguments of a call as a person writes them.
enum CallWords {
  /// One value for each parameter. A parameter of type text takes its word as it is, one of bytes base64url, any other
  /// JSON; `null` is nothing where nothing may be given.
  /// - Throws: what is wrong, with how the method is called.
  static func values(
    of words: [LocalPath], for method: MethodDescription
  ) throws(TransferFailure) -> [CBORValue] {
    func wrong(_ what: String) -> TransferFailure {
      TransferFailure(
        word: "wrong-arguments", message: "\(what): \(IntrospectProgram.signature(method))", exitCode: .usage)
    }
    guard words.count == method.parameters.count else {
      throw wrong(
        "it takes \(method.parameters.count) argument\(method.parameters.count == 1 ? "" : "s"), and not \(words.count)"
      )
    }
    var values: [CBORValue] = []
    for (index, (word, parameter)) in zip(words, method.parameters).enumerated() {
      guard let text = word.text else { throw wrong("argument \(index + 1) is not valid UTF-8") }
      let isOptional = parameter.type.hasSuffix("?")
      if isOptional, text == "null" {
        values.append(.null)
        continue
      }
      switch isOptional ? String(parameter.type.dropLast()) : parameter.type {
      case "text": values.append(.text(text))
      case "bytes":
        guard let bytes = CBORValue.bytes(base64URL: text) else {
          throw wrong("argument \(index + 1) is no base64url without padding")
        }
        values.append(bytes)
      default:
        do throws(CBORError) {
          values.append(try CBORValue(json: text))
        } catch {
          throw wrong("argument \(index + 1): \(error)")
        }
      }
    }
    return values
  }
}
