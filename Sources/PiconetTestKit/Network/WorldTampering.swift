import PiconetEngine
import PiconetWire

/// Faults in what an engine sends again over another link.
extension World {
  private var resumeFaults: Set<PlantedFault> { [.resendLost, .resendRepeated, .wrongPosition] }

  /// What a planted fault turns an engine's frames into; without one, they stay as they are.
  func tampered(_ bytes: Bytes, _ link: LinkID, of node: SimulatedNode) -> Bytes {
    guard !scenario.faults.isDisjoint(with: resumeFaults) else { return bytes }
    var decoder = FrameDecoder(frameLimit: WireLimits.largestFrame)
    decoder.push(bytes)
    var result: [UInt8] = []
    while let frame = try? decoder.next() {
      for changed in tampered(frame, link, of: node) { FrameEncoder.append(changed, to: &result) }
    }
    return result[...]
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
    default: break
    }
    return [frame]
  }
}
