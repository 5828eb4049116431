import PiconetEngine
import PiconetWire

/// One channel of one peer.
struct ChannelKey: Hashable {
  let peer: NodeID
  var channel: MessageChannel = 0
}
