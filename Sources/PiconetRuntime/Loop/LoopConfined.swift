/// Carries a loop's value through other threads, which do not touch it.
struct LoopConfined<Value>: @unchecked Sendable {
  // Sendable is right: made on a loop and used on the same loop only.
  let value: Value
  init(_ value: Value) { self.value = value }
}
