import CPiconetOpenSSL
import PiconetEngine

/// The identity in `identity.pem` of the state folder: key and certificate in one file, mode 0600, so that neither ever
/// exists without the other.
///
/// Processes that start at the same time agree on one key. A file that is damaged, or that others can read, is an
/// error. It is never replaced automatically, since that would turn this device into another one.
public struct FileIdentityStore: IdentityStore {
  static let fileName = "identity.pem"
  static let byteLimit = 16 << 10

  private let file: StateFile

  public init(directory: StateDirectory) {
    file = StateFile(directory: directory, name: Self.fileName, limit: Self.byteLimit)
  }

  /// The file's path, whether it exists or not.
  public var path: String { file.path }

  public func identity() throws(StateFailure) -> DeviceIdentity {
    try file.directory.prepare()
    if let kept = try load() { return kept }
    let new: DeviceIdentity
    var pem: [UInt8]
    do throws(SecureChannelFailure) {
      new = try DeviceIdentity.generate()
      pem = try new.pem()
    } catch {
      throw StateFailure(.key, path: path, "can't make a key: \(error.detail)")
    }
    defer { wipe(&pem) }
    if try file.create(pem) { return new }
    // Another process was first; its key counts.
    guard let theirs = try load() else {
      throw StateFailure(.damaged, path: path, "appeared and vanished again while we started")
    }
    return theirs
  }

  /// Turns this device into another one: the present identity is lost for good.
  /// - Parameter replacing: whether an existing identity may be replaced; if not, it stays, and the call throws
  ///   `exists`.
  public func put(_ identity: DeviceIdentity, replacing: Bool) throws(StateFailure) {
    try file.directory.prepare()
    var pem: [UInt8]
    do throws(SecureChannelFailure) {
      pem = try identity.pem()
    } catch {
      throw StateFailure(.key, path: path, "can't write the key: \(error.detail)")
    }
    defer { wipe(&pem) }
    if replacing { return try file.replace(pem) }
    guard try file.create(pem) else {
      throw StateFailure(.exists, path: path, "this device has an identity already")
    }
  }

  /// Returns the stored identity; nil if none is stored.
  public func load() throws(StateFailure) -> DeviceIdentity? {
    guard var pem = try file.read() else { return nil }
    defer { wipe(&pem) }
    do throws(SecureChannelFailure) {
      return try DeviceIdentity(pem: pem)
    } catch {
      throw StateFailure(
        .damaged, path: path,
        "is damaged (\(error.detail)); put back a copy of it, or move it away and get a new identity, which other "
          + "devices will not know")
    }
  }

  private func wipe(_ bytes: inout [UInt8]) {
    bytes.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
  }
}
