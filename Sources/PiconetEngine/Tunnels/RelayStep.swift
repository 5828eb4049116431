import PiconetWire

/// What a half of a relayed tunnel passes to the other one. Numbers are used again, so it counts only while the two
/// belong together.
struct RelayStep {
  enum Kind {
    case opened
    case data(Bytes)
    /// This many bytes of the other half have left this one's queue.
    case passed(Int)
    case closed(Ending)
  }

  let kind: Kind
  let place: TunnelPlace
  let source: TunnelPlace

  init(_ kind: Kind, to place: TunnelPlace, from source: TunnelPlace) {
    self.kind = kind
    self.place = place
    self.source = source
  }
}
