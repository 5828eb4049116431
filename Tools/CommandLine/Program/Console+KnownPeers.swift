import Piconet

extension Console {
  /// A person has set the code and one has typed it: the key is its device's.
  /// - Parameter address: where the person has reached it by hand.
  func remember(_ peer: ProvenMember, in node: Node, rights: Set<PeerRight.Action>, address: String? = nil) async {
    do throws(PiconetError) {
      let entry = try await node.remember(peer, confirmed: .code, rights: rights, address: address)
      if peer.known == nil { note("Remembered as '\(safe(entry.name))'") }
    } catch {
      tellNotRemembered(peer, error)
    }
  }

  /// So many damaged lines are told one by one.
  static let damagedLinesTold = 3

  /// Says of the known peers what can't be read, so that a device which is asked about again is no riddle. Once a run.
  func tellDamage(_ node: Node) async { tell(await node.damagedKnownPeers) }

  func tell(_ damaged: [DamagedLine]) {
    for line in damaged.prefix(Self.damagedLinesTold) {
      let isWhole = line.line == 0
      let message =
        isWhole
        ? "\(line.path): \(line.reason)"
        : "\(line.path):\(line.line): damaged line, passed over: \(line.reason); the device in it is not known until the line is mended"
      tell(
        .warning(
          Event.Warning(
            reason: "known-peers", message: message, path: line.path, line: isWhole ? nil : Int64(line.line))))
      problem("warning: \(safe(message))")
    }
    let rest = damaged.count - Self.damagedLinesTold
    if rest > 0 { problem("warning: \(rest) more damaged lines in \(safe(damaged[0].path))") }
  }
}
