import PiconetEngine
import PiconetWire

/// Faults in the frames from an engine to its links.
extension World {
  private var frameFaults: Set<PlantedFault> { [.resendLost, .resendRepeated, .wrongPosition, .acknowledgementsLost] }

  /// Returns what a planted fault makes of an engine's frames. Without a fault, they are unchanged.
  func tampered(_ bytes: Bytes, _ link: LinkID, of node: SimulatedNode) -> Bytes {
    guard !scenario.faults.isDisjoint(with: frameFaults) else { return bytes }
    var decoder = FrameDecoder(frameLimit: WireLimits.largestFrame)
    decoder.push(bytes)
    var result: [UInt8] = []
    while let frame = try? decoder.next() {
      for changed in tampered(frame, link, of: node) { FrameEncoder.append(changed, to: &result) }
    }
    return result[...]
  }

  /// Returns whether the driver keeps the bytes that the kernel does not take.
  func hoards(_ link: LinkID, of node: SimulatedNode) -> Bool {
    guard scenario.faults.contains(.memoryGrows), let (number, side) = node.links[link] else { return false }
    return isHostile(connections[number].ends[1 - side].node)
  }

  private func tampered(_ frame: Frame, _ link: LinkID, of node: SimulatedNode) -> [Frame] {
    switch frame {
    case .associate(_, let received) where received > 0, .associated(let received, _) where received > 0:
      node.record.resumedLinks.insert(link)
    case .message where scenario.faults.contains(.resendLost) && node.record.resumedLinks.remove(link) != nil: return []
    case .message where scenario.faults.contains(.resendRepeated) && node.record.resumedLinks.remove(link) != nil:
      return [frame, frame]
    case .position(let transfer, let offset) where scenario.faults.contains(.wrongPosition) && offset > 0:
      return [.position(transfer: transfer, offset: offset - 1)]
    case .acknowledge where scenario.faults.contains(.acknowledgementsLost): return []
    default: break
    }
    return [frame]
  }
}
