/// What an advertiser shows beside the program's own discovery info: which `MCPeerID` it is.
enum DiscoveryPairs {
  /// The key that is the module's own.
  static let identifierKey = "_mcpeer"

  /// - Returns: which rule is broken that Piconet does not check itself.
  static func brokenRule(_ info: [String: String]) -> String? {
    info.keys.contains { $0.lowercased() == identifierKey }
      ? "discovery info may not have the key \(identifierKey), which is this module's own" : nil
  }

  static func adding(_ peer: MCPeerID, to info: [String: String]) -> [String: String] {
    var info = info
    info[identifierKey] = String(peer.identifier, radix: 16)
    return info
  }

  /// - Returns: nil where the node is no advertiser of this module.
  static func taking(_ info: [String: String]) -> (identifier: UInt64, info: [String: String]?)? {
    var info = info
    guard let text = info.removeValue(forKey: identifierKey), let identifier = UInt64(text, radix: 16), identifier != 0
    else { return nil }
    return (identifier, info.isEmpty ? nil : info)
  }
}
