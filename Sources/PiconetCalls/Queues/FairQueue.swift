/// Elements of several sources that wait for one reader. Each source has its own limits, beyond which its oldest
/// elements are dropped: a source that floods pushes out nothing of another's. The reader gets all in the order in
/// which they came.
public struct FairQueue<Source: Hashable & Sendable, Element: Sendable>: Sendable {
  private struct Entry: Sendable {
    let order: UInt64
    let cost: Int
    let element: Element
  }

  private struct Line: Sendable {
    var entries: ArraySlice<Entry> = []
    var cost = 0

    mutating func removeFirst() -> Entry? {
      let first = entries.popFirst()
      cost -= first?.cost ?? 0
      return first
    }
  }

  private var lines: [Source: Line] = [:]
  private var last: UInt64 = 0
  private let countLimit: Int
  private let costLimit: Int

  /// - Parameters:
  ///   - countLimit: the most elements of one source that wait.
  ///   - costLimit: the most that those cost together.
  public init(countLimit: Int, costLimit: Int = .max) {
    self.countLimit = countLimit
    self.costLimit = costLimit
  }

  public var isEmpty: Bool { lines.isEmpty }

  public var count: Int { lines.values.reduce(0) { $0 + $1.entries.count } }

  public mutating func add(_ element: Element, cost: Int = 0, of source: Source) {
    last += 1
    var line = lines.removeValue(forKey: source) ?? Line()
    line.entries.append(Entry(order: last, cost: cost, element: element))
    line.cost += cost
    while line.entries.count > countLimit || line.cost > costLimit, line.removeFirst() != nil {}
    if !line.entries.isEmpty { lines[source] = line }
  }

  public mutating func next() -> Element? {
    let first = lines.min { ($0.value.entries.first?.order ?? .max) < ($1.value.entries.first?.order ?? .max) }
    guard let source = first?.key, var line = lines.removeValue(forKey: source) else { return nil }
    let entry = line.removeFirst()
    if !line.entries.isEmpty { lines[source] = line }
    return entry?.element
  }
}
