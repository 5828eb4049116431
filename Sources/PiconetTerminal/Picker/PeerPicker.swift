import Piconet

/// The list from which a person picks peers. Pure: peers and keys go in, lines come out.
///
/// A row keeps its place as long as the list is shown: a peer that vanishes stays there, greyed out, and can't be
/// picked; if it comes back it takes its old row. The selection stays with its peer, whichever peers come and go:
/// nothing changes under the person's finger.
///
/// A program that asks once lets the list end with the picked peers. A program that goes on using the list
/// (`staysOpen`) is told of each pick, and may show questions of peers in between, such as whether one may connect.
public struct PeerPicker: Sendable {
  /// The fields of a peer in a row.
  public struct Peer: Hashable, Sendable {
    /// Distinguishes peers: two programs on one device share a key.
    public var id: String
    /// The petname, or the name that the peer gives itself; two peers may give themselves the same.
    public var name: String
    /// The beginning of its fingerprint.
    public var digits: String
    /// The peer's standing, in a word: `known`, `new`, `blocked`; `connected`.
    public var standing: String
    /// A warning that a person must see before picking it, such as `not the known 'Mum'`; or empty.
    public var warning: String
    /// Further information, such as `calls itself 'Printer'`; or empty.
    public var remark: String
    /// The peer's transports, best first.
    public var transports: [String]
    /// In dBm.
    public var signalStrength: Int?
    /// The address where it is reached, as people write it; or empty.
    public var address: String

    /// Creates a peer with these fields.
    public init(
      id: String, name: String, digits: String, standing: String, warning: String = "", remark: String = "",
      transports: [String] = [], signalStrength: Int? = nil, address: String = ""
    ) {
      self.id = id
      self.name = name
      self.digits = digits
      self.standing = standing
      self.warning = warning
      self.remark = remark
      self.transports = transports
      self.signalStrength = signalStrength
      self.address = address
    }
  }

  /// The reason why the list has ended.
  enum Outcome: Hashable, Sendable {
    /// At least one.
    case picked(ids: [String])
    /// The person has finished in a list that stays open.
    case finished
    /// The person has cancelled.
    case quit
    /// Ctrl-C.
    case interrupted
  }

  struct Row: Hashable, Sendable {
    var peer: Peer {
      didSet { if peer.name != oldValue.name { look = NameSkeleton(peer.name) } }
    }
    var isPresent = true
    /// The skeleton of its name.
    private(set) var look: NameSkeleton

    init(_ peer: Peer) {
      self.peer = peer
      look = NameSkeleton(peer.name)
    }
  }

  /// The purpose of the list, such as `Send to`.
  let title: String
  /// Whether several may be marked.
  let takesSeveral: Bool
  /// Whether Enter reports a pick, and the list goes on.
  let staysOpen: Bool
  /// Those that depend on the program.
  let words: Words
  private(set) var rows: [Row] = []
  /// The id of the row that Enter picks.
  private(set) var selection: String?
  /// The ids of the marked rows, in the order in which they were marked.
  private(set) var marked: [String] = []
  /// The typed filter: rows that don't match are hidden.
  private(set) var filter = ""
  private(set) var outcome: Outcome?
  /// Why the last key had no effect, such as "Kitchen has gone".
  private(set) var notice: String?
  /// Peers in sight for which the list had no row.
  private(set) var unlisted: Set<String> = []

  /// Actions that the program has not been told of yet.
  var actions: [Action] = []
  /// Open questions to the person, asked one after the other.
  var questions: [Question] = []
  /// The text above the list in place of the title, such as "Waiting for Kitchen"; nil: the title.
  var remark: String?
  /// Whether the person may finish.
  var isComplete = false

  /// Creates a list without peers.
  /// - Parameters:
  ///   - title: the purpose of the list, such as `Send to`.
  ///   - takesSeveral: whether several peers may be marked.
  ///   - staysOpen: whether Enter only reports a pick, and the list goes on. Nothing can be marked then.
  ///   - words: those that depend on the program.
  public init(
    title: String = "Send to", takesSeveral: Bool = true, staysOpen: Bool = false, words: Words = Words()
  ) {
    self.title = title
    self.takesSeveral = takesSeveral && !staysOpen
    self.staysOpen = staysOpen
    self.words = words
  }

  /// The id of a row that was selected when a change of name made it stop matching the filter: it stays.
  private var held: String?

  /// The rows that are not hidden.
  var visible: [Row] {
    if filter.isEmpty { return rows }
    let typed = FoldedName(filter).baseLetters
    return rows.filter { $0.peer.id == held || Self.matches($0.peer, typed) }
  }

  /// Notes that a peer came into sight, or that its fields changed.
  mutating func appeared(_ peer: Peer) {
    if let index = rows.firstIndex(where: { $0.peer.id == peer.id }) {
      if peer.id == selection, peer.name != rows[index].peer.name { held = peer.id }
      rows[index].peer = peer
      rows[index].isPresent = true
    } else if rows.count < TerminalLimits.pickerRows {
      rows.append(Row(peer))
    } else if unlisted.count < TerminalLimits.pickerBacklog {
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
    if let question = questions.first, answer(question, by: key) { return }
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
    case .done: if isComplete { outcome = .finished }
    case .quit: outcome = .quit
    case .interrupt: outcome = .interrupted
    // The terminal handles this one.
    case .suspend: break
    }
  }

  private static let page = 8

  private mutating func type(_ letter: Unicode.Scalar) {
    guard filter.utf8.count < TerminalLimits.nameBytes else { return }
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
    guard row.isPresent else {
      notice = "\(row.peer.name) has gone"
      return
    }
    if staysOpen { actions.append(.picked(id: row.peer.id)) } else { outcome = .picked(ids: [row.peer.id]) }
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
