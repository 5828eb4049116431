/// The list a person picks a peer from. Pure: peers and keys go in, lines come out.
///
/// A row keeps its number as long as the list is shown: a peer that vanishes stays in its place, greyed, and can't be
/// picked; if it comes back it takes its old row. So a number never changes its meaning under somebody's finger.
struct PeerPicker: Sendable {
  struct Peer: Hashable, Sendable {
    /// What tells peers apart: the fingerprint.
    var id: String
    /// As the peer calls itself; two may call themselves the same.
    var name: String
    /// What else is known, as `tcp, known`.
    var detail: String
  }

  enum Outcome: Hashable, Sendable {
    case picked(id: String)
    /// The person wants none of them.
    case quit
    /// Ctrl-C.
    case interrupted
  }

  struct Row: Hashable, Sendable {
    var peer: Peer
    var isPresent: Bool
  }

  private(set) var rows: [Row] = []
  /// Index of the marked row.
  private(set) var selection = 0
  private(set) var outcome: Outcome?
  /// The last key's trouble, as "Kitchen has gone".
  private(set) var notice: String?
  /// Peers in sight that found no row.
  private(set) var unlisted: Set<String> = []
  /// Digits typed so far: `1`, then `12`.
  private(set) var typed = 0

  /// A peer came into sight, or what is known of it changed.
  mutating func appeared(_ peer: Peer) {
    if let index = rows.firstIndex(where: { $0.peer.id == peer.id }) {
      rows[index] = Row(peer: peer, isPresent: true)
    } else if rows.count < CommandLineLimits.pickerRows {
      rows.append(Row(peer: peer, isPresent: true))
    } else if unlisted.count < CommandLineLimits.pickerBacklog {
      unlisted.insert(peer.id)
    }
  }

  mutating func vanished(id: String) {
    unlisted.remove(id)
    if let index = rows.firstIndex(where: { $0.peer.id == id }) { rows[index].isPresent = false }
  }

  mutating func press(_ key: PickerKey) {
    guard outcome == nil else { return }
    notice = nil
    var digits = 0
    switch key {
    case .digit(let digit): digits = type(digit)
    case .backspace:
      digits = typed / 10
      if digits > 0 { selection = digits - 1 }
    case .up: selection = max(0, selection - 1)
    case .down: selection = min(max(0, rows.count - 1), selection + 1)
    case .first: selection = 0
    case .last: selection = max(0, rows.count - 1)
    case .enter: pick()
    case .quit: outcome = .quit
    case .interrupt: outcome = .interrupted
    }
    typed = digits
  }

  /// Marks the row of the number typed so far; a number too large begins anew with this digit.
  private mutating func type(_ digit: Int) -> Int {
    for number in [typed * 10 + digit, digit] where number >= 1 && number <= rows.count {
      selection = number - 1
      return number
    }
    notice = "there is no number \(digit)"
    return 0
  }

  /// A digit only marks: photos sent to the wrong peer can't be called back, so it takes Enter.
  private mutating func pick() {
    guard rows.indices.contains(selection) else {
      notice = "nobody is in sight yet"
      return
    }
    if rows[selection].isPresent {
      outcome = .picked(id: rows[selection].peer.id)
    } else {
      notice = "\(rows[selection].peer.name) has gone"
    }
  }
}
