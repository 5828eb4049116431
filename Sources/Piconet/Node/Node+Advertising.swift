import PiconetEngine

extension Node {
  /// What others see before they connect; `setDiscoveryInfo` changes it.
  public var discoveryInfo: [String: String] { shell.presence.info }

  /// Changes what others see before they connect: at once if the node is advertised, otherwise from the next time on.
  /// Peers that have seen the old pairs see the new ones once their discovery has noticed: over a common network within
  /// a second or so; over Bluetooth within about half a minute, when they ask this device for its record again.
  /// - Parameter info: as `NodeConfiguration.discoveryInfo`, with the same limits.
  /// - Throws: `invalidArgument` with the rule that it breaks; `shuttingDown`.
  public func setDiscoveryInfo(_ info: [String: String]) async throws(PiconetError) {
    do throws(InvalidConfiguration) {
      try DiscoveryInfo.validate(info)
    } catch {
      throw PiconetError(.invalidArgument, blame: .us, detail: error.rule, underlying: error)
    }
    try await shell.setAdvertised { $0.info = info }
  }

  /// Changes what people call this device: in the advertisement as `setDiscoveryInfo` does, and for nodes that connect
  /// from now on. Members know the previous name until they join again (`Member.name`). A node that dials this one as
  /// it was found under the previous name fails with `identity`, until its discovery has noticed.
  /// - Parameter name: as `NodeConfiguration.name`: 1 to 63 bytes of UTF-8, no control characters.
  /// - Throws: `invalidArgument` with the rule that it breaks; `shuttingDown`.
  public func setName(_ name: String) async throws(PiconetError) {
    // First: a peer that has seen the new name must not hear the previous one from us.
    if case .failure(let ending) = await core.answer(to: .setName(name)) {
      let code: PiconetError.Code = ending.reason == .limitExceeded ? .invalidArgument : .shuttingDown
      throw PiconetError(code, blame: .us, detail: ending.detail)
    }
    try await shell.setAdvertised { $0.name = name }
  }
}
