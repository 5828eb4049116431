import PiconetFiles
import PiconetHTTP
import PiconetWire

extension Resource {
  /// Returns the name of a resource that is made from a URL and is given no name. Makes no request.
  /// - Parameter url: an http or https URL.
  /// - Throws: `invalidArgument` with the fault: the URL can't be fetched, or no name can be derived from it.
  public static func name(ofURL url: String) throws(PiconetError) -> String {
    do throws(HTTPFailure) {
      _ = try HTTPAddress(url)
    } catch {
      throw PiconetError(.invalidArgument, blame: .us, detail: error.description, underlying: error)
    }
    let component = lastComponent(of: url)
    guard !component.isEmpty else {
      throw PiconetError(.invalidArgument, blame: .us, detail: "the URL's path does not end with the name of a file")
    }
    do throws(FileNameRefusal) {
      return try SafeFileName(bytes: component).text
    } catch {
      throw PiconetError(
        .invalidArgument, blame: .us, detail: "the last part of the URL's path is no file name: it \(error.explanation)"
      )
    }
  }

  /// Returns the part after the path's last slash (RFC 3986, section 3.3), percent-decoded.
  static func lastComponent(of url: String) -> [UInt8] {
    let withoutScheme = url.utf8.drop { $0 != 0x3A }.dropFirst(3)
    let path = withoutScheme.prefix { $0 != 0x3F && $0 != 0x23 }.drop { $0 != 0x2F }
    var rest = Array(path.split(separator: 0x2F, omittingEmptySubsequences: false).last ?? path[...])[...]
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      if byte == 0x25, let value = [UInt8](hexadecimal: String(decoding: rest.prefix(2), as: UTF8.self)),
        value.count == 1
      {
        bytes += value
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return bytes
  }
}
