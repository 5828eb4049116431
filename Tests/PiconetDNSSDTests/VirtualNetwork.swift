import PiconetEngine

@testable import PiconetDNSSD

/// Hosts with a responder, a browser or both on one wire, in virtual time.
///
/// Simulated: delay, loss and duplication per receiver, own packets that loop back, interfaces that come and go. Not
/// simulated: fragmentation, and unicast that reaches the wrong process of a host.
struct VirtualNetwork {
  struct Weather {
    var delay: ClosedRange<Int64> = 1...5
    var loss = 0.0
    var duplication = 0.0
  }
  struct Host {
    var address: IPAddress
    var traits: InterfaceTraits
    var responder: Responder?
    var browser: Browser?
    /// Reports with the time in milliseconds.
    var log: [(time: Int64, report: BrowserReport)] = []
    var isUp = true
  }
  struct Packet {
    var due: Duration
    var order: Int
    var from: Int
    var to: Int
    var message: DNSMessage
  }

  static let interface = InterfaceID(index: 2, isIPv6: false)
  var hosts: [Host] = []
  var packets: [Packet] = []
  var now: Duration = .zero
  var weather: Weather
  var random: SeededRandom
  /// Sent messages: time, sender, bytes.
  var sent: [(time: Duration, from: Int, bytes: [UInt8], destination: Transmission.Destination)] = []
  private var order = 0

  init(seed: UInt64, weather: Weather = Weather()) {
    random = SeededRandom(seed: seed)
    self.weather = weather
  }

  mutating func add(
    name: String? = nil, id: String = "3f2a9c", host: String? = nil, port: UInt16 = 4000, browses: Bool = false,
    text: [[UInt8]] = [Array("v=1".utf8)], isLoopback: Bool = false
  ) -> Int {
    let index = hosts.count
    let address = IPAddress.v4(0x0A00_0001 + UInt32(index))
    let traits = InterfaceTraits(isLoopback: isLoopback, receivesUnicast: true, addresses: [address])
    var entry = Host(address: address, traits: traits)
    if let name {
      entry.responder = Responder(
        ServiceRegistration(
          label: InstanceLabel.make(name: name, identifier: id), host: Array((host ?? "host-\(index)").utf8),
          port: port,
          text: text), random: SeededRandom(seed: random.next()))
    }
    if browses { entry.browser = Browser(random: SeededRandom(seed: random.next())) }
    hosts.append(entry)
    attach(index)
    return index
  }

  mutating func attach(_ index: Int) {
    let traits = hosts[index].traits
    send(hosts[index].responder?.interfaceAppeared(Self.interface, traits, at: now) ?? [], from: index)
    if let output = hosts[index].browser?.interfaceAppeared(Self.interface, traits, at: now) { perform(output, index) }
  }

  mutating func perform(_ output: BrowserOutput, _ index: Int) {
    hosts[index].log += output.reports.map { (now.milliseconds, $0) }
    send(output.transmissions, from: index)
  }

  mutating func send(_ transmissions: [Transmission], from index: Int) {
    for transmission in transmissions {
      sent.append((now, index, transmission.message, transmission.destination))
      guard let message = try? DNSMessage(decoding: transmission.message) else { continue }
      for receiver in hosts.indices {
        if case .unicast(let target) = transmission.destination, target.address != hosts[receiver].address { continue }
        var copies = 1
        if receiver != index {
          if Double.random(in: 0..<1, using: &random) < weather.loss { copies = 0 }
          if Double.random(in: 0..<1, using: &random) < weather.duplication { copies += 1 }
        }
        for _ in 0..<copies {
          order += 1
          let delay = receiver == index ? 0 : Int64.random(in: weather.delay, using: &random)
          packets.append(
            Packet(due: now + .milliseconds(delay), order: order, from: index, to: receiver, message: message))
        }
      }
    }
  }

  mutating func crash(_ index: Int) { hosts[index].isUp = false }

  mutating func stop(_ index: Int) {
    send(hosts[index].responder?.stop() ?? [], from: index)
    hosts[index].responder = nil
  }

  mutating func run(until end: Duration) {
    while true {
      let packet = packets.indices.min { (packets[$0].due, packets[$0].order) < (packets[$1].due, packets[$1].order) }
      let timers = hosts.indices.filter { hosts[$0].isUp }.compactMap { index in
        [hosts[index].responder?.nextDeadline, hosts[index].browser?.nextDeadline].compactMap { $0 }.min()
          .map { (time: max($0, now), index: index) }
      }
      let timer = timers.min { $0.time < $1.time }
      let next = min(packet.map { packets[$0].due } ?? end, timer?.time ?? end)
      guard next < end else { break }
      now = next
      if let packet, packets[packet].due <= next {
        deliver(packets.remove(at: packet))
      } else if let timer {
        let index = timer.index
        send(hosts[index].responder?.deadlineReached(at: now) ?? [], from: index)
        if let output = hosts[index].browser?.deadlineReached(at: now) { perform(output, index) }
      }
    }
    now = end
  }

  private mutating func deliver(_ packet: Packet) {
    guard hosts[packet.to].isUp else { return }
    let message = packet.message
    let source = MessageSource(address: hosts[packet.from].address, port: MulticastDNS.port)
    let index = packet.to
    send(
      hosts[index].responder?.received(message, from: source, on: Self.interface, at: now) ?? [], from: index)
    if let output = hosts[index].browser?.received(message, from: source, on: Self.interface, at: now) {
      perform(output, index)
    }
  }

  func found(by index: Int) -> [String] {
    hosts[index].browser?.instances.map { String(decoding: $0.label, as: UTF8.self) } ?? []
  }

  func messages(from index: Int? = nil, responses: Bool) -> [(time: Duration, message: DNSMessage)] {
    sent.compactMap { item in
      guard index == nil || item.from == index, let message = try? DNSMessage(decoding: item.bytes),
        message.isResponse == responses
      else { return nil }
      return (item.time, message)
    }
  }
}

extension Duration {
  var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
