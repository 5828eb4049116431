import Piconet

extension Console {
  /// One person set the code and another typed it, so the key is its device's.
  /// - Parameter address: where the person reached it by hand.
  func remember(_ peer: ProvenMember, in node: Node, rights: Set<PeerRight.Action>, address: String? = nil) async {
    do throws(PiconetError) {
      let entry = try await node.remember(peer, confirmed: .code, rights: rights, address: address)
      if peer.known == nil { note("Remembered as '\(safe(entry.name))'") }
    } catch {
      tellNotRemembered(peer, error)
    }
  }

  /// How many damaged lines are reported one by one.
  static let damagedLinesTold = 3

  /// Says which known peers can't be read, so that no one wonders why a device is asked about again. Once per run.
  func tellDamage(_ node: Node) async { tell(await node.damagedKnownPeers) }

  func tell(_ damaged: [DamagedLine]) {
    for line in damaged.prefix(Self.damagedLinesTold) {
      let message =
        "\(line.path):\(line.line): damaged line, passed over: \(line.reason); the device in it is not known until the line is mended"
      tell(
        .warning(
          ProgramEvent.Warning(
            reason: "known-peers", message: message, path: line.path, line: Int64(line.line))))
      problem("warning: \(safe(message))")
    }
    let rest = damaged.count - Self.damagedLinesTold
    if rest > 0 { problem("warning: \(rest) more damaged lines in \(safe(damaged[0].path))") }
  }
}
