/// What a person probably meant by a word that is not one of the known ones.
enum NearestWord {
  /// The word that is the fewest typing errors away; the first of several; nil if none is near.
  ///
  /// An error is what `EditDistance` counts. A third of a word may be wrong, at least one letter and at most three.
  /// Case does not count.
  static func to(_ written: String, of words: [String]) -> String? {
    let letters = Array(written.lowercased())
    let near = words.compactMap { word -> (word: String, slips: Int)? in
      let other = Array(word.lowercased())
      let most = min(3, max(1, other.count / 3))
      guard abs(letters.count - other.count) <= most else { return nil }
      let slips = EditDistance.between(letters, other)
      return slips <= most ? (word, slips) : nil
    }
    return near.min { $0.slips < $1.slips }?.word
  }

  /// The end of a message that names a wrong word; empty if there is nothing to suggest.
  static func question(_ word: String?) -> String { word.map { "; did you mean '\($0)'?" } ?? "" }
}
