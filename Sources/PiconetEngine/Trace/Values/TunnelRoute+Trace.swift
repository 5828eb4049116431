import PiconetWire

extension TunnelRoute: TraceCoded {
  func write(to bytes: inout TraceBytes) { bytes(remote, relays, relayCount) }
  static func read(from reader: inout TraceReader) throws(TraceError) -> TunnelRoute {
    TunnelRoute(remote: try reader(), relays: try reader(), relayCount: try reader())
  }
}

extension RelayQuotas: TraceCoded {
  func write(to bytes: inout TraceBytes) { bytes(tunnelsPerMember, tunnels, memberRate, rate) }
  static func read(from reader: inout TraceReader) throws(TraceError) -> RelayQuotas {
    var quotas = RelayQuotas()
    quotas.tunnelsPerMember = try reader()
    quotas.tunnels = try reader()
    quotas.memberRate = try reader()
    quotas.rate = try reader()
    return quotas
  }
}
