import Glibc
import Piconet
import PiconetRuntime
import Testing

@testable import PiconetCommandLine

@Suite("What the system lets a program have")
struct ResourceLimitsTests {
  @Test("is enough, or a sentence says what is too little, and how to change that")
  func problem() {
    #expect(ResourceLimits(descriptors: 24).problem(program: "imagerecv") == nil)
    #expect(ResourceLimits(descriptors: 16).problem(program: "imagesend") == nil)
    #expect(
      ResourceLimits(descriptors: 23).problem(program: "imagerecv")
        == "only 23 files may be open at once here, and 24 are needed: raise the limit (ulimit -n)")
    #expect(ResourceLimits(descriptors: 15).problem(program: "piconet")?.contains("16 are needed") == true)
    var limits = ResourceLimits(descriptors: 1_024, addressSpace: 100 << 20, addressSpaceLeft: 48 << 20)
    #expect(limits.problem(program: "imagesend") == nil)
    limits.addressSpaceLeft -= 1
    #expect(
      limits.problem(program: "imagesend")
        == "the limit on memory is 104 MB, and 105 MB are needed: raise it (ulimit -v)")
  }

  @Test("is no defect of the program when there is too little of it, and the limits that may be the reason are named")
  func shortage() {
    let error = SystemError("pthread_create", EAGAIN)
    let failure = TransferFailure(
      PiconetError(.internalError, blame: .us, detail: "\(error)", underlying: error), on: .sender)
    #expect(failure.word == "limit" && failure.exitCode == .localFile)
    #expect(failure.message.contains("(ulimit -u, TasksMax) or memory (ulimit -v)"))
    let full = LinkFailure(.tooManyDescriptors, "rtnetlink: Too many open files (EMFILE)")
    #expect(
      TransferFailure(PiconetError(.internalError, blame: .us, detail: "x", underlying: full), on: .receiver).exitCode
        == .localFile)
    let defect = SystemError("pthread_create", EINVAL)
    #expect(
      TransferFailure(PiconetError(.internalError, blame: .us, detail: "x", underlying: defect), on: .sender).exitCode
        == .internalError)
  }
}
