import Foundation
import TestSupport
import Testing

/// The threads of nodes in this process.
func nodeThreadCount() -> Int { threadNames().count { ["piconet", "piconet-disk", "piconet-names"].contains($0) } }

/// The most memory of this process that was resident at any time, in bytes.
func residentBytes() -> Int {
  let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
  let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
  return (line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
}

/// Shows that nodes have left neither descriptors nor threads. Only for a process of its own: other tests open and
/// close descriptors.
func expectNothingLeft(since before: Int) throws {
  // libdispatch may open up to three for itself at any time.
  try #require(descriptorCount() < before + 8)
  // A joined thread is done, but the kernel may list it a moment longer.
  var tries = 0
  while nodeThreadCount() > 0, tries < 10_000 {
    sched_yield()
    tries += 1
  }
  try #require(nodeThreadCount() == 0)
}
