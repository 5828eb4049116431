import PiconetCalls
import PiconetEngine
import PiconetWire

/// A hostile member that sends frames about calls: any frame with any numbers, floods, deeply nested or endless values,
/// and calls of others again. It answers no calls.
extension World {
  func callAttack(_ node: HostileNode, _ number: Int) {
    let isFlood = node.dice.chance(20)
    for _ in 0..<(isFlood ? 40 : node.dice.number(1...4)) {
      let channel = node.dice.chance(70) ? SimulatedCalls.channel : SimulatedCalls.longChannel
      let bytes = isFlood ? falseHello(node) : falseCallFrame(node)
      send(.channelMessage(channel, bytes[...]), node, number)
    }
  }

  private func falseHello(_ node: HostileNode) -> [UInt8] {
    CallFrame.hello(
      .init(instance: UInt64(node.dice.number(0...2)), limits: node.dice.pick([.least, .usual]), asks: true)
    ).encoded
  }

  private func falseCallFrame(_ node: HostileNode) -> [UInt8] {
    let small = UInt64(node.dice.number(0...20))
    let bytes = node.dice.bytes(node.dice.number(1...200))
    let arguments: [UInt8]
    switch node.dice.number(0...3) {
    case 0: arguments = CBORValue.array([.bytes(bytes)]).encoded
    case 1: arguments = [UInt8](repeating: 0x81, count: node.dice.number(1...200)) + [0]
    case 2: arguments = CallTruths.arguments(node.dice.number(0...max(0, calls.count - 1)), size: 10)
    default: arguments = [0x80]
    }
    switch node.dice.number(0...13) {
    case 0: return falseHello(node)
    case 1...4:
      return CallFrame.call(
        .init(
          number: small, path: "/", interface: "i", version: 1, method: "m",
          milliseconds: UInt64(node.dice.number(1...2_000)), arguments: arguments[...])
      ).encoded
    case 5: return bytes
    case 6: return CallFrame.begin(id: small, total: node.dice.pick([0, 1, 70_000, 1 << 40]), bytes[...]).encoded
    case 7: return CallFrame.next(id: small, bytes[...]).encoded
    case 8: return CallFrame.result(number: node.dice.word(), value: [0xF6]).encoded
    case 9: return CallFrame.failure(number: node.dice.word(), CallFailure(.thrown, "no")).encoded
    case 10: return CallFrame.cancel(number: small).encoded
    case 11: return CallFrame.goodbye(.init(rawValue: small), "bye").encoded
    case 12: return CallFrame.claim(NameClaim("a", time: small, [])).encoded
    default: return CallFrame.unknown(100 + small).encoded
    }
  }
}
