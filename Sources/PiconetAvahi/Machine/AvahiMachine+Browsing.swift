import Glibc
import PiconetDBusValues
import PiconetDNSSD

/// Others' services, as Avahi finds them.
extension AvahiMachine {
  /// Updates Avahi's browsers to the errand.
  mutating func updateBrowsing() {
    let wanted = errand.searches ? errand.families : []
    for (isIPv6, browsing) in browsers.sorted(by: { !$0.key && $1.key })
    where !wanted.contains(isIPv6) || browsing.interfaces != errand.interfaces {
      browsers[isIPv6] = nil
      if let path = browsing.path { call(.none, path, AvahiNames.browser, "Free") }
      instances.removeAll { $0.isIPv6 == isIPv6 }
    }
    for isIPv6 in wanted.sorted(by: { !$0 && $1 }) where browsers[isIPv6] == nil {
      lastNumber += 1
      browsers[isIPv6] = AvahiBrowsing(number: lastNumber, interfaces: errand.interfaces)
      call(
        .browser(isIPv6: isIPv6, number: lastNumber), AvahiNames.serverPath, AvahiNames.server, "ServiceBrowserNew",
        [
          .int32(AvahiNames.anyInterface), .int32(AvahiNames.proto(isIPv6: isIPv6)), .string(AvahiNames.type),
          .string(AvahiNames.domain), .uint32(0),
        ])
    }
  }

  mutating func browserAnswered(
    _ isIPv6: Bool, _ number: Int, _ result: Result<[DBusValue], DBusFailure>, at now: Duration
  ) {
    let isCurrent = browsers[isIPv6]?.number == number
    switch result {
    case .success(let values):
      guard let path = values.first?.text else { return fail(.refused("no browser"), at: now) }
      if isCurrent { browsers[isIPv6]?.path = path } else { call(.none, path, AvahiNames.browser, "Free") }
    case .failure(let failure):
      if isCurrent { fail(Self.failure(failure), at: now) }
    }
  }

  mutating func browserTold(_ path: String, _ member: String, _ arguments: [DBusValue], at now: Duration) {
    guard let (isIPv6, browsing) = browsers.first(where: { $0.value.path == path }) else { return }
    switch member {
    case "ItemNew":
      guard let key = Self.key(arguments, isIPv6: isIPv6),
        browsing.interfaces?.contains(key.interface.index) ?? true
      else { return }
      let flags = arguments[5].integer ?? 0
      instances.appeared(key, isLocal: flags & AvahiNames.resultLocal != 0, at: now)
    case "ItemRemove":
      if let key = Self.key(arguments, isIPv6: isIPv6) { instances.disappeared(key) }
    case "Failure":
      fail(.refused(InstanceLabel.displayable(arguments.first?.text ?? "browser")), at: now)
    default: break
    }
  }

  /// Interface, protocol, name, type, domain, flags.
  private static func key(_ arguments: [DBusValue], isIPv6: Bool) -> AvahiInstance.Key? {
    guard arguments.count == 6, let index = arguments[0].integer.flatMap(UInt32.init(exactly:)), index > 0,
      AvahiNames.isIPv6(arguments[1].integer) == isIPv6, let name = arguments[2].text,
      (1...MulticastDNS.labelLength).contains(name.utf8.count),
      arguments[3].text?.lowercased() == AvahiNames.type, arguments[4].text?.lowercased() == AvahiNames.domain
    else { return nil }
    return AvahiInstance.Key(interface: InterfaceID(index: index, isIPv6: isIPv6), label: Array(name.utf8))
  }

  mutating func resolve(_ key: AvahiInstance.Key, _ number: Int) {
    let proto = DBusValue.int32(AvahiNames.proto(isIPv6: key.interface.isIPv6))
    call(
      .resolver(key, number: number), AvahiNames.serverPath, AvahiNames.server, "ServiceResolverNew",
      [
        .int32(Int32(truncatingIfNeeded: key.interface.index)), proto,
        .string(String(decoding: key.label, as: UTF8.self)), .string(AvahiNames.type), .string(AvahiNames.domain),
        // An address of the family that it was seen over. Over the other family it is seen as well.
        proto, .uint32(0),
      ])
  }

  /// Interface, protocol, name, type, domain, host, protocol of the address, address, port, text, flags.
  /// - Returns: nil if it can't be used.
  static func finding(_ arguments: [DBusValue]) -> AvahiInstance.Finding? {
    guard arguments.count == 11, let address = arguments[7].text.flatMap(address),
      let port = arguments[8].integer.flatMap(UInt16.init(exactly:)),
      // Avahi doesn't say which device has sent it, so it could lead to a neighbour's SSH: see
      // `InterfaceTable.mayDial`.
      port >= 1024
    else { return nil }
    var text: [[UInt8]] = []
    var count = 0
    for string in arguments[9].elements {
      guard case .bytes(let bytes) = string else { return nil }
      count += bytes.count + 1
      guard bytes.count <= 255, count <= MulticastDNS.largestMessage else { return nil }
      text.append(bytes)
    }
    // Avahi returns the strings in reverse order.
    return AvahiInstance.Finding(address: address, port: port, text: text.reversed())
  }

  private static func address(_ text: String) -> IPAddress? {
    var bytes = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET, text, &bytes) == 1 { return IPAddress(bytes: bytes.prefix(4)) }
    return inet_pton(AF_INET6, text, &bytes) == 1 ? IPAddress(bytes: bytes) : nil
  }

  /// Returns the known instance of a name, on all interfaces.
  func instance(_ label: [UInt8], _ name: DomainName) -> ResolvedInstance? {
    let found = instances.found(label)
    guard let first = found.first else { return nil }
    var others: [[[UInt8]]] = []
    for (_, _, finding) in found where finding.text != first.finding.text && !others.contains(finding.text) {
      others.append(finding.text)
    }
    let endpoints = found.map { interface, isLocal, finding in
      // This host is the origin of services that its programs publish; Avahi doesn't report the origin of others.
      ResolvedInstance.Endpoint(
        interface: interface, address: finding.address, port: finding.port, origin: isLocal ? finding.address : nil)
    }
    return ResolvedInstance(name: name, text: first.finding.text, endpoints: endpoints, otherTexts: others)
  }
}
