import PiconetEngine
import PiconetWire

@testable import FarAdapter

/// One of each frame with every field set, and one with none.
enum Samples {
  static let peer = PeerID(bytes: (0..<32).map { UInt8($0) })!
  static let address = TransportAddress(kind: .l2cap, text: "00:11:22:33:44:55/0x1011")
  static let traits = LinkTraits(
    kind: .l2cap, remoteAddress: "far", localAddress: "near", isPacket: true, largestWrite: 32_668,
    transmitWindow: 65_536, unreadLimit: 200_000)
  static let advertisement = NodeAdvertisement(
    peer: peer, incarnation: Incarnation(rawValue: .max), name: "Küche", info: ["a": "b", "c": ""],
    sessionID: "session",
    ports: [.l2cap: 0x1011, .rfcomm: 3])
  static let sighting = Sighting(
    peer: peer, incarnation: Incarnation(rawValue: 7), name: "", info: [:], addresses: [address, address],
    signalStrength: -61, otherNames: ["Zed"])

  static let orders: [AdapterOrder] = [
    .open(AdapterOpening(sessionID: "session", kinds: [.l2cap, .le], discovers: false)), .listen(.rfcomm),
    .stopListening(.le), .dial(.max, .l2cap, [address]), .dial(0, .tcp, []), .cancelDial(3),
    .write(4, Bytes([1, 2, 3])), .write(5, []), .taken(6, 12_345), .close(7, abort: true), .close(8, abort: false),
    .advertise(advertisement), .advertise(nil), .search(sessionID: "session"), .search(sessionID: nil),
    .setRadioBusy(true), .setExpecting(true),
    .askPaging, .shutDown,
  ]

  static let reports: [AdapterReport] = [
    .opened(kinds: [.l2cap, .rfcomm], discovery: "bluetooth"), .opened(kinds: [], discovery: nil), .refused("why"),
    .listening(.l2cap, FarListeningPlace(port: 0x1011, addresses: [address])),
    .listeningChanged(.le, FarListeningPlace(port: nil, addresses: [])),
    .notListening(.l2cap, LinkFailure(.permission, "EACCES")), .dialled(1, link: 2, traits),
    .dialFailed(3, LinkFailure(.hostDown)), .accepted(link: 4, LinkTraits(kind: .rfcomm, remoteAddress: "")),
    .received(5, Bytes([9])), .written(6, 65_536), .ended(7, nil), .ended(8, LinkFailure(.reset, "gone")),
    .discovered(.seen(sighting)), .discovered(.gone(peer, Incarnation(rawValue: 0))), .paging(false), .shutDown,
  ]
}
