import PiconetEngine

/// The port of the place where a device's identity is kept. Any thread may call it; it may block on the disk.
public protocol IdentityStore: Sendable {
  /// The device's identity: the same one every time, made the first time.
  func identity() throws(StateFailure) -> DeviceIdentity
}

/// An identity that lives as long as this value: another start is another device.
public struct MemoryIdentityStore: IdentityStore {
  private let kept: DeviceIdentity

  /// - Throws: `internalError` with OpenSSL's reason.
  public init() throws(SecureChannelFailure) { kept = try DeviceIdentity.generate() }

  public func identity() -> DeviceIdentity { kept }
}
