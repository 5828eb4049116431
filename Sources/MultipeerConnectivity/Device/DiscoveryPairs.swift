/// The pairs that an advertiser shows beside the program's own discovery info: they identify its `MCPeerID`.
enum DiscoveryPairs {
  /// The key that this module reserves.
  static let identifierKey = "_mcpeer"

  /// - Returns: the broken rule, among those that Piconet does not check itself; nil if none is broken.
  static func brokenRule(_ info: [String: String]) -> String? {
    info.keys.contains { $0.lowercased() == identifierKey }
      ? "discovery info may not have the key \(identifierKey), which is this module's own" : nil
  }

  static func adding(_ peer: MCPeerID, to info: [String: String]) -> [String: String] {
    var info = info
    info[identifierKey] = String(peer.identifier, radix: 16)
    return info
  }

  /// - Returns: nil if the node is not an advertiser of this module.
  static func taking(_ info: [String: String]) -> (identifier: UInt64, info: [String: String]?)? {
    var info = info
    guard let text = info.removeValue(forKey: identifierKey), let identifier = UInt64(text, radix: 16), identifier != 0
    else { return nil }
    return (identifier, info.isEmpty ? nil : info)
  }
}
