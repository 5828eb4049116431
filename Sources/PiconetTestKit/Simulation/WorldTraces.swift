import PiconetEngine

/// Traces of the engines, if requested.
extension World {
  func startRecording(_ node: SimulatedNode) {
    guard recordsTraces, !isHostile(node.index) else { return }
    // Every other engine's trace is redacted: both kinds must give the same run.
    node.engine.startRecording(limit: 1 << 30, redacted: node.index % 2 == 1)
  }

  /// Collects the trace of an engine that is over. That of a crashed engine just stops.
  func collectTrace(of node: SimulatedNode) {
    guard recordsTraces, !isHostile(node.index) else { return }
    if node.isAlive { node.engine.endRecording(.complete) }
    traces.append(node.engine.takeRecording())
  }
}
