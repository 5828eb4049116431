import PiconetEngine
import PiconetTLS
import PiconetWire

/// The device's own key, without a node. All functions block on the disk; running programs keep the identity with which
/// they started.
extension IdentityStorage {
  /// Whether the identity is stored in a folder, with the known peers.
  var isKept: Bool { if case .directory = self { true } else { false } }

  /// Returns the fingerprint of this device's key, which others compare and pin. Makes the key if none exists.
  /// - Throws: `state`.
  public func fingerprint() throws(PiconetError) -> PeerID { try identity().peer }

  /// Returns the key and its certificate in PEM. Anyone who has it, and the passphrase if there is one, can pose as
  /// this device.
  /// - Parameter passphrase: encrypts the key (PKCS #8, AES-256, PBKDF2 with 600,000 rounds); nil: it is not encrypted.
  ///   Not empty, at most 1,024 bytes, without NUL.
  /// - Throws: `state`, `invalidArgument`.
  public func exportIdentity(passphrase: [UInt8]? = nil) throws(PiconetError) -> [UInt8] {
    try Self.check(passphrase)
    let identity = try identity()
    do throws(SecureChannelFailure) {
      return try identity.pem(passphrase: passphrase)
    } catch {
      throw PiconetError(.state, blame: .us, detail: "the key can't be written: \(error.detail)")
    }
  }

  /// Replaces this device's identity with an exported one.
  /// - Parameters:
  ///   - pem: the text that `exportIdentity` returned.
  ///   - passphrase: the passphrase that encrypts it, if any.
  ///   - replacing: whether an existing identity may be lost for good.
  /// - Returns: the fingerprint from now on.
  /// - Throws: `state`, also if the passphrase is wrong; `invalidArgument`.
  @discardableResult
  public func restoreIdentity(
    _ pem: [UInt8], passphrase: [UInt8]? = nil, replacing: Bool = false
  ) throws(PiconetError) -> PeerID {
    try Self.check(passphrase)
    let identity: DeviceIdentity
    do throws(SecureChannelFailure) {
      identity = try DeviceIdentity(pem: pem, passphrase: passphrase)
    } catch {
      throw PiconetError(.state, blame: .us, detail: Self.fault(of: pem, passphrase, error))
    }
    try put(identity, replacing: replacing)
    return identity.peer
  }

  /// Makes a new identity for this device. Devices that know it must get to know it again, and the previous key is lost
  /// for good.
  /// - Returns: the fingerprint from now on.
  @discardableResult
  public func renewIdentity() throws(PiconetError) -> PeerID {
    let identity: DeviceIdentity
    do throws(SecureChannelFailure) {
      identity = try DeviceIdentity.generate()
    } catch {
      throw PiconetError(.internalError, blame: .us, detail: error.detail)
    }
    try put(identity, replacing: true)
    return identity.peer
  }

  /// Returns why the file holds no identity, in words for the person who named it.
  static func fault(of pem: [UInt8], _ passphrase: [UInt8]?, _ failure: SecureChannelFailure) -> String {
    let text = String(decoding: pem, as: UTF8.self)
    // RFC 7468, sections 10 and 11.
    guard text.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----") else {
      guard text.contains("PRIVATE KEY-----") else { return "there is no key in it" }
      return "the key in it can't be read: \(failure.detail)"
    }
    return passphrase == nil
      ? "the key in it is encrypted" : "the passphrase is another one, or the key in it is damaged"
  }

  static func check(_ passphrase: [UInt8]?) throws(PiconetError) {
    guard let passphrase else { return }
    guard (1...1024).contains(passphrase.count), !passphrase.contains(0) else {
      throw PiconetError(.invalidArgument, blame: .us, detail: "a passphrase has 1 to 1,024 bytes, none of them NUL")
    }
  }

  private func identity() throws(PiconetError) -> DeviceIdentity {
    if case .given(let identity) = self { return identity.device }
    return try withStore { (store) throws(StateFailure) in try store.identity() }
  }

  private func put(_ identity: DeviceIdentity, replacing: Bool) throws(PiconetError) {
    try withStore { (store) throws(StateFailure) in try store.put(identity, replacing: replacing) }
  }

  private func withStore<Value>(
    _ body: (FileIdentityStore) throws(StateFailure) -> Value
  ) throws(PiconetError) -> Value {
    guard case .directory(let path) = self else {
      let words =
        self == .ephemeral
        ? "an identity that is kept nowhere lives as long as its node" : "the program keeps the identity"
      throw PiconetError(.state, blame: .us, detail: words)
    }
    do throws(StateFailure) {
      return try body(FileIdentityStore(directory: StateDirectory(path: path)))
    } catch {
      throw PiconetError(error)
    }
  }
}
