import PiconetEngine

/// Traces of the engines, for whoever asks for them.
extension World {
  func startRecording(_ node: SimulatedNode) {
    guard recordsTraces, !isHostile(node.index) else { return }
    // Every other engine's trace is redacted: the same run has to come out of both kinds.
    node.engine.startRecording(limit: 1 << 30, redacted: node.index % 2 == 1)
  }

  /// The trace of an engine that is over: of one that crashed it just stops.
  func collectTrace(of node: SimulatedNode) {
    guard recordsTraces, !isHostile(node.index) else { return }
    if node.isAlive { node.engine.endRecording(.complete) }
    traces.append(node.engine.takeRecording())
  }
}
