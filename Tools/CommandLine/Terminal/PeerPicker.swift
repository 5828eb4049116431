import Piconet

/// The list from which a person picks peers. Pure: peers and keys go in, lines come out.
///
/// A row keeps its place as long as the list is shown: a peer that vanishes stays there, greyed out, and can't be
/// picked; if it comes back it takes its old row. The selection stays with its peer, whoever comes and goes: nothing
/// changes under the person's finger.
struct PeerPicker: Sendable {
  struct Peer: Hashable, Sendable {
    /// Distinguishes peers: two programs on one device share a key.
    var id: String
    /// The petname, or what the peer calls itself; two may call themselves the same.
    var name: String
    /// The beginning of its fingerprint.
    var digits: String
    /// `known`, `new`, `blocked`.
    var standing: String
    /// What a person must see before picking it, such as `not the known 'Mum'`; or empty.
    var warning = ""
    /// What else is known, such as `calls itself 'Printer'`; or empty.
    var remark = ""
    /// Best first.
    var transports: [String] = []
    /// In dBm.
    var signalStrength: Int?
    var address = ""
  }

  enum Outcome: Hashable, Sendable {
    /// At least one.
    case picked(ids: [String])
    /// The person wants none of them.
    case quit
    /// Ctrl-C.
    case interrupted
  }

  struct Row: Hashable, Sendable {
    var peer: Peer {
      didSet { if peer.name != oldValue.name { look = NameSkeleton(peer.name) } }
    }
    var isPresent = true
    /// What its name looks like.
    private(set) var look: NameSkeleton

    init(_ peer: Peer) {
      self.peer = peer
      look = NameSkeleton(peer.name)
    }
  }

  /// What the list is for, such as `Send to`.
  let title: String
  /// Whether several may be marked.
  let takesSeveral: Bool
  private(set) var rows: [Row] = []
  /// The id of the row that Enter picks.
  private(set) var selection: String?
  /// The ids of the marked rows, in the order in which they were marked.
  private(set) var marked: [String] = []
  /// What was typed: rows that don't match are hidden.
  private(set) var filter = ""
  private(set) var outcome: Outcome?
  /// What was wrong with the last key, such as "Kitchen has gone".
  private(set) var notice: String?
  /// Peers in sight for which there was no row.
  private(set) var unlisted: Set<String> = []

  init(title: String = "Send to", takesSeveral: Bool = true) {
    self.title = title
    self.takesSeveral = takesSeveral
  }

  /// The id of a row that was selected when a change of name made it stop matching the filter: it stays.
  private var held: String?

  /// The rows that are not hidden.
  var visible: [Row] {
    if filter.isEmpty { return rows }
    let typed = FoldedName(filter).baseLetters
    return rows.filter { $0.peer.id == held || Self.matches($0.peer, typed) }
  }

  /// A peer came into sight, or what is known about it changed.
  mutating func appeared(_ peer: Peer) {
    if let index = rows.firstIndex(where: { $0.peer.id == peer.id }) {
      if peer.id == selection, peer.name != rows[index].peer.name { held = peer.id }
      rows[index].peer = peer
      rows[index].isPresent = true
    } else if rows.count < CommandLineLimits.pickerRows {
      rows.append(Row(peer))
    } else if unlisted.count < CommandLineLimits.pickerBacklog {
      unlisted.insert(peer.id)
    }
    if selection == nil { keepSelection() }
  }

  mutating func vanished(id: String) {
    unlisted.remove(id)
    if let index = rows.firstIndex(where: { $0.peer.id == id }) { rows[index].isPresent = false }
  }

  mutating func press(_ key: PickerKey) {
    guard outcome == nil else { return }
    notice = nil
    switch key {
    case .letter(let letter): type(letter)
    case .backspace: setFilter(String(filter.dropLast()))
    case .clear: setFilter("")
    case .up: move(by: -1)
    case .down: move(by: 1)
    case .pageUp: move(by: -Self.page)
    case .pageDown: move(by: Self.page)
    case .first: move(by: -rows.count)
    case .last: move(by: rows.count)
    case .space: mark()
    case .enter: pick()
    case .quit: outcome = .quit
    case .interrupt: outcome = .interrupted
    // The terminal handles this one.
    case .suspend: break
    }
  }

  private static let page = 8

  private mutating func type(_ letter: Unicode.Scalar) {
    guard filter.utf8.count < CommandLineLimits.nameBytes else { return }
    setFilter(filter + String(letter))
  }

  private mutating func setFilter(_ text: String) {
    filter = text
    held = nil
    keepSelection()
  }

  /// Matches the name, ignoring case, accents and spaces, or the beginning of the fingerprint.
  private static func matches(_ peer: Peer, _ typed: [Character]) -> Bool {
    typed.isEmpty || FoldedName(peer.name).baseLetters.contains(typed)
      || typed.count > 3 && peer.digits.hasPrefix(String(typed))
  }

  /// If the selected row is hidden, selects the first one that is not.
  private mutating func keepSelection() {
    let visible = visible
    if !visible.contains(where: { $0.peer.id == selection }) { selection = visible.first?.peer.id }
  }

  private mutating func move(by count: Int) {
    let visible = visible
    guard let index = visible.firstIndex(where: { $0.peer.id == selection }) else { return }
    selection = visible[min(max(0, index + count), visible.count - 1)].peer.id
  }

  private var selected: Row? { selection.flatMap { id in rows.first { $0.peer.id == id } } }

  private mutating func mark() {
    guard takesSeveral, let row = selected else { return }
    if let index = marked.firstIndex(of: row.peer.id) {
      marked.remove(at: index)
    } else if row.isPresent {
      marked.append(row.peer.id)
    } else {
      notice = "\(row.peer.name) has gone"
    }
  }

  /// Only Enter sends: photos sent to the wrong peer can't be called back.
  private mutating func pick() {
    if !marked.isEmpty { return pickMarked() }
    guard let row = selected else {
      notice = filter.isEmpty ? "nobody is in sight yet" : "nobody is called so"
      return
    }
    if row.isPresent { outcome = .picked(ids: [row.peer.id]) } else { notice = "\(row.peer.name) has gone" }
  }

  /// Peers that have gone lose their marks, and Enter must be pressed again.
  private mutating func pickMarked() {
    let gone = rows.filter { marked.contains($0.peer.id) && !$0.isPresent }
    guard let first = gone.first else {
      outcome = .picked(ids: marked)
      return
    }
    marked.removeAll { id in gone.contains { $0.peer.id == id } }
    notice = gone.count == 1 ? "\(first.peer.name) has gone" : "\(gone.count) of them have gone"
  }
}
