import Glibc
import Testing

@testable import PiconetIP

@Suite("The port of Multicast DNS")
struct MulticastPortTests {
  @Test("of many that open it at the same time each gets it, again and again", arguments: [false, true])
  func atTheSameTime(isIPv6: Bool) async {
    let failures = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<4 {
        group.addTask {
          var count = 0
          for _ in 0..<250 {
            let descriptor = MulticastSocket.open(isIPv6: isIPv6).descriptor
            if descriptor < 0 { count += 1 } else { close(descriptor) }
          }
          return count
        }
      }
      return await group.reduce(0, +)
    }
    #expect(failures == 0)
  }

  @Test("a socket opened beside another one knows that it is not the port's only owner", arguments: [false, true])
  func beside(isIPv6: Bool) {
    let first = MulticastSocket.open(isIPv6: isIPv6)
    defer { close(first.descriptor) }
    let second = MulticastSocket.open(isIPv6: isIPv6)
    defer { close(second.descriptor) }
    #expect(first.descriptor >= 0 && second.descriptor >= 0 && !second.isSoleOwner)
  }

  @Test("the kernel's list names the ports in use, and nothing else does")
  func list() {
    let text = """
         sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
        12: 00000000:14E9 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 14E8 2 00000000 0
       140: 0100007F:0035 00000000:14EA 07 00000000:00000000 00:00000000 00000000   101        0 22915 2 00000000 0
      """
    #expect(BoundPorts.isBound(5353, in: text) && BoundPorts.isBound(53, in: text))
    #expect(!BoundPorts.isBound(5354, in: text) && !BoundPorts.isBound(5352, in: text))
    #expect(!BoundPorts.isBound(5353, in: "") && !BoundPorts.isBound(5353, in: "a\n\n1:\n2: :\n3: 14E9"))
  }
}
