/// Decides which item gives way in a crowd, so that strangers keep out only each other.
enum Crowd {
  /// Returns the oldest item of the host that has the most items.
  static func oldest<Item, Order: Comparable>(
    of items: [Item], by order: (Item) -> Order, _ place: (Item) -> (host: String, since: Instant)
  ) -> Item? {
    let placed = items.map { (item: $0, order: order($0), place: place($0)) }
    let counts = Dictionary(grouping: placed, by: \.place.host).mapValues(\.count)
    return placed.min { left, right in
      let (leftCount, rightCount) = (counts[left.place.host] ?? 0, counts[right.place.host] ?? 0)
      if leftCount != rightCount { return leftCount > rightCount }
      return (left.place.since, left.order) < (right.place.since, right.order)
    }?.item
  }
}
