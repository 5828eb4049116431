import PiconetEngine

extension Node {
  /// The pairs that others see before they connect; `setDiscoveryInfo` changes them.
  public var discoveryInfo: [String: String] { shell.presence.info }

  /// Changes the pairs that others see before they connect: at once if the node is advertised, otherwise from the next
  /// time on. Peers that have seen the old pairs see the new ones once their discovery has noticed. Over a common
  /// network this takes a second or so. Over Bluetooth it takes about half a minute, until they ask this device for its
  /// record again.
  /// - Parameter info: see `NodeConfiguration.discoveryInfo`; the limits are the same.
  /// - Throws: `invalidArgument` with the broken rule; `shuttingDown`.
  public func setDiscoveryInfo(_ info: [String: String]) async throws(PiconetError) {
    do throws(InvalidConfiguration) {
      try DiscoveryInfo.validate(info)
    } catch {
      throw PiconetError(.invalidArgument, blame: .us, detail: error.rule, underlying: error)
    }
    try await shell.setAdvertised { $0.info = info }
  }

  /// Changes what people call this device: in the advertisement as `setDiscoveryInfo` does, and for nodes that connect
  /// from now on. Members know the previous name until they join again (`Member.name`). A node that found this one
  /// under the previous name and dials it fails with `identity`, until its discovery has noticed the change.
  /// - Parameter name: see `NodeConfiguration.name`: 1 to 63 bytes of UTF-8, no control characters.
  /// - Throws: `invalidArgument` with the broken rule; `shuttingDown`.
  public func setName(_ name: String) async throws(PiconetError) {
    // The engine comes first: a peer that has seen the new name must not get the previous one from us.
    if case .failure(let ending) = await core.answer(to: .setName(name)) {
      let code: PiconetError.Code = ending.reason == .limitExceeded ? .invalidArgument : .shuttingDown
      throw PiconetError(code, blame: .us, detail: ending.detail)
    }
    try await shell.setAdvertised { $0.name = name }
  }
}
