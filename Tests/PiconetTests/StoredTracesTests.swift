import PiconetEngine
import PiconetFiles
import PiconetWire
import Testing

@testable import Piconet

@Suite("Files that runs of senders have stored")
struct StoredTracesTests {
  private func sender(_ number: UInt64) throws -> NodeID {
    NodeID(
      peer: try #require(PeerID(bytes: [UInt8](repeating: 1, count: 32))), incarnation: Incarnation(rawValue: number))
  }

  private func path(_ text: String) -> FileTrace { .path(Array(text.utf8)) }

  @Test("each run has its own, by the bytes of a path, by the file, by its content")
  func own() throws {
    let traces = StoredTraces()
    let (first, second) = (traces.files(of: try sender(1)), traces.files(of: try sender(2)))
    first.note([path("a.jpg"), .inode(device: 1, number: 2)])
    #expect(first.contains(path("a.jpg")) && first.contains(.inode(device: 1, number: 2)))
    #expect(!first.contains(path("A.jpg")) && !first.contains(.inode(device: 2, number: 2)))
    #expect(!first.contains(.inode(device: 1, number: 3)) && !first.contains(.size(2)))
    #expect(!second.contains(path("a.jpg")))
    // The same name in Unicode, but not on a disk that goes by bytes.
    first.note([path("\u{E9}")])
    #expect(first.contains(path("\u{E9}")) && !first.contains(path("e\u{301}")))
  }

  @Test("of a run that goes on storing are kept, however many others come and go")
  func kept() throws {
    let traces = StoredTraces()
    traces.files(of: try sender(0)).note([path("a.jpg")])
    for number in 1...UInt64(4 * StoredTraces.senders) {
      traces.files(of: try sender(number)).note([path("a.jpg")])
      traces.files(of: try sender(0)).note([path("b.jpg")])
      #expect(traces.files(of: try sender(0)).contains(path("a.jpg")))
    }
    // One that has stored nothing meanwhile is forgotten.
    #expect(!traces.files(of: try sender(1)).contains(path("a.jpg")))
  }

  @Test("of all runs together are bounded: those that have stored nothing for longest are forgotten")
  func bounded() throws {
    let traces = StoredTraces(atMost: 100)
    for run in 1...UInt64(3) {
      for number in 0..<160 { traces.files(of: try sender(run)).note([path("\(number).jpg")]) }
    }
    #expect(!traces.files(of: try sender(1)).contains(path("0.jpg")))
    #expect(traces.files(of: try sender(2)).contains(path("0.jpg")))
    #expect(traces.files(of: try sender(3)).contains(path("0.jpg")))
  }

  @Test("a run with more than are remembered replaces nothing any more")
  func full() throws {
    let files = StoredTraces(ofSender: 10).files(of: try sender(1))
    for number in 0..<39 { files.note([path("\(number).jpg")]) }
    #expect(!files.contains(path("new.jpg")))
    for number in 39..<80 { files.note([path("\(number).jpg")]) }
    #expect(files.contains(path("new.jpg")))
  }
}
