/// Carries a loop's value through other threads, which do not touch it.
///
/// It may be released there last: its captured values must need no loop when they are released.
struct LoopConfined<Value>: @unchecked Sendable {
  // Sendable is right: the value is made on a loop and used on the same loop only. Another thread only holds it, and
  // references are counted atomically.
  let value: Value
  init(_ value: Value) { self.value = value }
}
