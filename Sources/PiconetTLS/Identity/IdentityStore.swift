import PiconetEngine

/// The port of the store for a device's identity. Any thread may call it; it may block on the disk.
public protocol IdentityStore: Sendable {
  /// Returns the device's identity: the same one every time, made the first time.
  func identity() throws(StateFailure) -> DeviceIdentity
}

/// An identity that lives as long as this value: after another start the device is another one.
public struct MemoryIdentityStore: IdentityStore {
  private let kept: DeviceIdentity

  /// - Throws: `internalError` with OpenSSL's reason.
  public init() throws(SecureChannelFailure) { kept = try DeviceIdentity.generate() }

  public func identity() -> DeviceIdentity { kept }
}
