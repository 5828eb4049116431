/// What goes wrong with the digests that are kept costs time, and nothing else.
extension Console {
  /// Has files that are sent or compared looked up among the digests of earlier runs.
  func open(_ digests: DigestCacheFile?) {
    if let failure = digests?.open() { note("Begins without the digests of earlier runs: \(safe(failure))", detail: 1) }
  }

  /// - Parameter least: only if so many are new.
  func save(_ digests: DigestCacheFile?, ifNew least: Int = 1) {
    guard let failure = digests?.save(ifNew: least) else { return }
    note("The digests of what was read are not kept: \(safe(failure))", detail: 1)
  }
}
