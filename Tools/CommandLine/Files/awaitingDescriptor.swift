import CPiconetSystem
import Glibc

/// Repeats a call for a few seconds that fails since no descriptor is free: other files of this run are closed
/// meanwhile. Blocks its thread.
func awaitingDescriptor<Result: SignedInteger>(_ call: () -> Result) -> Result {
  var waited: Int32 = 0
  while true {
    let result = call()
    if result >= 0 || !piconet_awaits_descriptor(errno, &waited) { return result }
  }
}
