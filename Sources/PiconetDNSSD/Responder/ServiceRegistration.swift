/// A service as its owner wants it; the responder may have to change the two names.
public struct ServiceRegistration: Sendable, Hashable {
  public var type: ServiceType
  /// The wanted first label of the instance's name, 1 to 63 bytes.
  public var label: [UInt8]
  /// The wanted label of the host's name, 1 to 63 bytes. With its own host name this service does not disturb a DNS-SD
  /// daemon that defends the system's.
  public var host: [UInt8]
  public var port: UInt16
  /// The strings of the TXT record.
  public var text: [[UInt8]]

  public init(type: ServiceType = .piconet, label: [UInt8], host: [UInt8], port: UInt16, text: [[UInt8]]) {
    self.type = type
    self.label = label
    self.host = host
    self.port = port
    self.text = text
  }
}

/// The records of a registration on one interface, under the names it has at the moment.
struct ServiceRecords: Sendable {
  let instanceName: DomainName
  let hostName: DomainName
  /// Records that others may have, too: pointers.
  let shared: [ResourceRecord]
  /// SRV and TXT.
  let instance: [ResourceRecord]
  /// A and AAAA.
  let host: [ResourceRecord]
  let instanceDenial: ResourceRecord
  let hostDenial: ResourceRecord

  var unique: [ResourceRecord] { instance + host }
  var all: [ResourceRecord] { shared + instance + host + [instanceDenial, hostDenial] }

  init(_ registration: ServiceRegistration, instanceName: DomainName, hostName: DomainName, addresses: [IPAddress]) {
    self.instanceName = instanceName
    self.hostName = hostName
    let time = MulticastDNS.timeToLive
    let type = registration.type.name
    shared = [
      ResourceRecord(name: type, type: .ptr, cacheFlush: false, timeToLive: time, data: .pointer(instanceName)),
      ResourceRecord(
        name: ServiceType.enumeration, type: .ptr, cacheFlush: false, timeToLive: MulticastDNS.typeTimeToLive,
        data: .pointer(type)),
    ]
    instance = [
      ResourceRecord(
        name: instanceName, type: .srv, cacheFlush: true, timeToLive: time,
        data: .service(priority: 0, weight: 0, port: registration.port, target: hostName)),
      ResourceRecord(
        name: instanceName, type: .txt, cacheFlush: true, timeToLive: time, data: .text(registration.text)),
    ]
    host = addresses.map {
      ResourceRecord(
        name: hostName, type: $0.isIPv6 ? .aaaa : .a, cacheFlush: true, timeToLive: time, data: .address($0))
    }
    instanceDenial = ResourceRecord(
      name: instanceName, type: .nsec, cacheFlush: true, timeToLive: time,
      data: .nextSecure(instanceName, types: [.txt, .srv]))
    hostDenial = ResourceRecord(
      name: hostName, type: .nsec, cacheFlush: true, timeToLive: time,
      data: .nextSecure(hostName, types: Set(host.map(\.type)).sorted()))
  }

  /// Returns the answers to a question: records, or a denial that one of our names has such a record (RFC 6762, section
  /// 6.1).
  func answers(to question: Question) -> [ResourceRecord] {
    let found = (shared + unique).filter { question.isAnswered(by: $0) }
    guard found.isEmpty, question.questionClass == 1 || question.questionClass == 255 else { return found }
    if question.name == instanceName { return [instanceDenial] }
    return question.name == hostName ? [hostDenial] : []
  }

  /// Returns the records that the querier will want next (RFC 6763, section 12), so that one packet suffices.
  func additionals(for answers: [ResourceRecord]) -> [ResourceRecord] {
    var wanted: [ResourceRecord] = []
    if answers.contains(where: { $0.type == .ptr && $0.data == .pointer(instanceName) }) {
      wanted = instance + host + [instanceDenial, hostDenial]
    } else if answers.contains(where: { $0.type == .srv || $0.type == .a || $0.type == .aaaa }) {
      wanted = host + [hostDenial]
    }
    return wanted.filter { record in !answers.contains { $0.isSame(as: record) } }
  }
}
