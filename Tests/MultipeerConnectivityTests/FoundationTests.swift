import Foundation
import Synchronization
import Testing

@testable import MultipeerConnectivity

@Suite("What code for Apple's systems finds in Foundation there")
struct FoundationTests {
  @Test("a progress, and one that it is a part of, is observed until the observation ends")
  func observing() {
    let whole = Progress(totalUnitCount: 10)
    whole.becomeCurrent(withPendingUnitCount: 10)
    let part = ResourceProgress(totalUnitCount: 4)
    whole.resignCurrent()
    let told = Mutex<[String]>([])
    func note(_ line: String) { told.withLock { $0.append(line) } }
    let ofWhole = whole.observe(\.fractionCompleted) { progress, change in
      note("whole \(progress.fractionCompleted) \(change.newValue == nil)")
    }
    var ofPart: NSKeyValueObservation? = part.observe(\.completedUnitCount, options: [.initial, .new, .old]) {
      note("part \($1.oldValue.map(String.init) ?? "none") to \($1.newValue.map(String.init) ?? "none")")
    }
    let ofEnd = part.observe(\.isCancelled, options: .new) { note("cancelled \($1.newValue == true)") }
    part.completedUnitCount = 1
    // No change.
    part.completedUnitCount = 1
    ofWhole.invalidate()
    part.completedUnitCount = 2
    ofPart = nil
    part.completedUnitCount = 3
    whole.cancel()
    #expect(
      Set(told.withLock { $0 })
        == ["part none to 0", "whole 0.25 true", "part 0 to 1", "part 1 to 2", "cancelled true"])
    #expect(told.withLock { $0.count } == 5 && ofPart == nil)
    withExtendedLifetime(ofEnd) {}
  }

  @Test("a peer is a key of Foundation's dictionaries in the ways in which code writes it")
  func keys() {
    let (anna, ben) = (MCPeerID(displayName: "Anna"), MCPeerID(displayName: "Ben"))
    let dictionary = NSMutableDictionary()
    dictionary[anna as any NSCopying] = 1
    dictionary[ben] = 2
    dictionary.setObject(3, forKey: anna as any NSCopying)
    dictionary.setObject(4, forKey: "name" as NSString)
    #expect(dictionary[anna] as? Int == 3 && dictionary[ben as any NSCopying] as? Int == 2)
    #expect(dictionary["name"] as? Int == 4 && dictionary.object(forKey: anna) as? Int == 3)
    dictionary[ben] = nil
    #expect(dictionary.count == 2)
  }
}
