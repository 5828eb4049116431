/// One reader of an `EventSequence`: an iterator.
final class EventReader<Element: Sendable>: Sendable {
  let source: any EventSource<Element>
  let id = ReaderID()

  init(_ source: any EventSource<Element>) {
    self.source = source
    source.attach(id)
  }

  /// Elements that it has not read wait for the others, or for the next reader if it was the last.
  deinit { source.detach(id) }
}
