import PiconetEngine
import PiconetSDP
import PiconetWire
import Testing

@testable import PiconetBluetooth

@Suite("The ways to a device's records")
struct RecordRoutesTests {
  typealias Route = RecordRoutes.Route
  static let device = BluetoothAddress(rawValue: 0x11_2233_4455)
  static let place = BluetoothPlace(device: device)

  /// The ways that are tried when each fails with the next of these codes.
  static func tried(_ place: BluetoothPlace, last: RouteMemory.Way? = nil, _ codes: LinkFailure.Code...) -> [Route] {
    var routes = RecordRoutes(to: place, last: last)
    var tried: [Route] = []
    for code in codes {
      guard let route = routes.current else { break }
      tried.append(route)
      routes.failed(LinkFailure(code))
    }
    return tried + (routes.current.map { [$0] } ?? [])
  }

  @Test func aDeviceThatRefusesOneWayIsAskedTheNextOne() {
    #expect(Self.tried(Self.place, .refused, .refused) == [.serviceDiscovery, .recordChannel, .lowEnergy])
  }

  @Test(arguments: [LinkFailure.Code.hostDown, .unreachable, .timedOut, .notAvailable, .authentication, .other])
  func aDeviceThatBREDRDoesNotReachIsAskedOverLEAtOnce(code: LinkFailure.Code) {
    #expect(Self.tried(Self.place, code) == [.serviceDiscovery, .lowEnergy])
    #expect(Self.tried(Self.place, .refused, code) == [.serviceDiscovery, .recordChannel, .lowEnergy])
  }

  @Test(arguments: [LinkFailure.Code.noService, .cancelled, .permission, .tooManyDescriptors, .busy, .reset])
  func anAnswerWithoutARecordAndOwnTroubleEndTheReading(code: LinkFailure.Code) {
    #expect(Self.tried(Self.place, code) == [.serviceDiscovery])
  }

  @Test func aRandomAddressIsAskedOverLEAloneAndANumberOverTheRecordChannel() {
    #expect(Self.tried(BluetoothPlace(device: Self.device, isRandom: true), .hostDown) == [.lowEnergy])
    #expect(Self.tried(BluetoothPlace(device: Self.device, port: 0x1077), .refused) == [.recordChannel])
  }

  @Test(arguments: [LinkFailure.Code.refused, .hostDown, .timedOut])
  func aDeviceThatIsLinkedOverLEAloneIsNotPaged(code: LinkFailure.Code) {
    for last in [nil, RouteMemory.Way(route: .serviceDiscovery, classicMisses: 0)] {
      var routes = RecordRoutes(to: Self.place, last: last, isLinkedOverLowEnergy: true)
      #expect(routes.current == .lowEnergy)
      routes.failed(LinkFailure(code))
      #expect(routes.current == nil)
    }
    let place = BluetoothPlace(device: Self.device, port: 0x1077)
    #expect(RecordRoutes(to: place, isLinkedOverLowEnergy: true).current == .recordChannel)
  }

  @Test func whatLedThereBeforeIsTriedFirstAndTheRestAfterIt() {
    let channel = RouteMemory.Way(route: .recordChannel, classicMisses: 0)
    #expect(Self.tried(Self.place, last: channel, .refused, .refused) == [.recordChannel, .serviceDiscovery])
    let lowEnergy = RouteMemory.Way(route: .lowEnergy, classicMisses: 2)
    #expect(
      Self.tried(Self.place, last: lowEnergy, .timedOut, .refused) == [.lowEnergy, .serviceDiscovery, .recordChannel])
  }

  @Test func theFailureOfTheWholeSaysWhetherTheDeviceIsThere() {
    func failure(_ last: RouteMemory.Way?, _ codes: LinkFailure.Code...) -> LinkFailure.Code {
      var routes = RecordRoutes(to: Self.place, last: last)
      for code in codes { routes.failed(LinkFailure(code)) }
      return routes.failure.code
    }
    #expect(failure(nil, .refused, .refused, .refused) == .noService)
    #expect(failure(nil, .refused, .refused, .hostDown) == .noService)
    #expect(failure(nil, .hostDown, .refused) == .noService)
    #expect(failure(nil, .hostDown, .timedOut) == .hostDown)
    #expect(failure(nil, .busy) == .busy)
    // The way that used to lead there may be back in a moment.
    #expect(failure(.init(route: .lowEnergy, classicMisses: 2), .timedOut, .refused, .refused) == .timedOut)
  }

  @Test func aReasonThatSeveralWaysHaveInCommonIsToldOnce() {
    var routes = RecordRoutes(to: Self.place, last: nil)
    for detail in ["connect: refused", "connect: down", "connect: refused"] {
      routes.failed(LinkFailure(.refused, detail))
    }
    #expect(routes.failure == LinkFailure(.noService, "connect: refused; connect: down"))
  }

  @Test func aDeviceIsOneOfLEAloneOnlyAfterTwoMissesInARowAndBREDRHasAnotherChanceLater() throws {
    var memory = RouteMemory()
    let record = NodeRecord(
      peer: try #require(PeerID(bytes: Array(1...32))), incarnation: Incarnation(rawValue: 7), name: "n",
      sessionID: "s",
      l2capPSM: 0x1005, rfcommChannel: 3, lePSM: 0x81)
    var ports: [[Bool]] = []
    var first: [Route?] = []
    for _ in 0..<12 {
      var routes = RecordRoutes(to: Self.place, last: memory.way(to: Self.device))
      first.append(routes.current)
      if routes.current != .lowEnergy { routes.failed(LinkFailure(.hostDown)) }
      #expect(routes.current == .lowEnergy)
      let usable = routes.usable([record])[0]
      ports.append([usable.l2capPSM != nil, usable.rfcommChannel != nil, usable.lePSM != nil])
      memory.succeeded(routes, to: Self.device)
    }
    #expect(ports[0] == [true, true, true])
    #expect(ports[1..<10].allSatisfy { $0 == [false, false, true] })
    #expect(first[..<2] == [.serviceDiscovery, .serviceDiscovery])
    #expect(first[2..<10].allSatisfy { $0 == .lowEnergy })
    #expect(first[10] == .serviceDiscovery)
    var routes = RecordRoutes(to: Self.place, last: memory.way(to: Self.device))
    if routes.current == .lowEnergy { routes.failed(LinkFailure(.refused)) }
    memory.succeeded(routes, to: Self.device)
    #expect(memory.way(to: Self.device)?.classicMisses == 0)
  }

  /// Asking over LE makes the scan pause, and without the scan a peer that is gone would not be missed.
  @Test func whatBREDRLedToIsNotAskedOverLEBeforeItHasFailedThreeTimes() {
    var memory = RouteMemory()
    memory.succeeded(RecordRoutes(to: Self.place), to: Self.device)
    var tried: [[Route]] = []
    for _ in 0..<4 {
      var routes = RecordRoutes(to: Self.place, last: memory.way(to: Self.device))
      var each: [Route] = []
      while let route = routes.current {
        each.append(route)
        routes.failed(LinkFailure(.hostDown))
      }
      tried.append(each)
      memory.failed(Self.device)
    }
    #expect(tried[..<3].allSatisfy { $0 == [.serviceDiscovery] })
    #expect(tried[3] == [.serviceDiscovery, .lowEnergy])
  }

  @Test func theMemoryIsBounded() {
    var memory = RouteMemory()
    for number in 0..<UInt64(1000) {
      memory.succeeded(RecordRoutes(to: Self.place), to: BluetoothAddress(rawValue: number))
    }
    #expect(memory.count <= RouteMemory.limit)
  }

  @Test func aRecordWithoutAPSMOfLEKeepsItsOtherNumbers() throws {
    let record = NodeRecord(
      peer: try #require(PeerID(bytes: Array(1...32))), incarnation: Incarnation(rawValue: 7), name: "n",
      sessionID: "s",
      l2capPSM: 0x1005)
    let routes = RecordRoutes(to: Self.place, last: .init(route: .lowEnergy, classicMisses: 2))
    #expect(routes.usable([record]) == [record])
  }
}
