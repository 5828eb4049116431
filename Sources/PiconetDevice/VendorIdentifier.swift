import Foundation
import Glibc

/// A random number that is kept in a file: the first program that writes it has made it for all.
enum VendorIdentifier {
  static let current = kept(in: folder(environment: ProcessInfo.processInfo.environment))

  /// The folder that the XDG Base Directory Specification 0.8 gives this user's programs.
  static func folder(environment: [String: String]) -> String? {
    if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return state + "/piconet" }
    guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
    return home + "/.local/state/piconet"
  }

  static func kept(in folder: String?) -> UUID? {
    guard let folder else { return nil }
    let path = folder + "/identifier-for-vendor"
    if let found = read(path) { return found }
    let files = FileManager.default
    let own: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
    guard (try? files.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: own)) != nil
    else { return nil }
    // Written under another name first, so that no process reads a part of it; linked, so that it replaces no other.
    let draft = "\(path).\(UUID().uuidString)"
    defer { unlink(draft) }
    let isWritten = files.createFile(
      atPath: draft, contents: Data((UUID().uuidString + "\n").utf8), attributes: [.posixPermissions: 0o600])
    guard isWritten else { return nil }
    link(draft, path)
    return read(path)
  }

  private static func read(_ path: String) -> UUID? {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
    return UUID(uuidString: text.trimmingCharacters(in: .whitespacesAndNewlines))
  }
}
