import Foundation

/// Whether what takes minutes is wanted as well: `Tools/test --all` sets PICONET_SLOW_TESTS.
package let isLongRun = ProcessInfo.processInfo.environment["PICONET_SLOW_TESTS"] == "1"
