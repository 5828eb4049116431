import Glibc
import Testing

@testable import PiconetFiles

@Suite struct FileFailureTests {
  @Test("a failure is a sentence with the path and the numbers that help")
  func sentences() {
    #expect(
      FileFailure(.diskFull(needed: 10, free: 3), path: "/x/a.jpg").sentence
        == "/x/a.jpg: the disk is full: 10 B are needed, 3 B are free")
    #expect(
      FileFailure(.diskFull(needed: 13_048_576, free: 9_000_000), path: "p", reserve: 1_048_576).sentence
        == "p: the disk is full: 12 MB are needed and 1.0 MB have to stay free for other programs, but only 9.0 MB are free"
    )
    #expect(
      FileFailure(.diskFull(needed: 0, free: 104_853_504), path: "p").sentence
        == "p: the disk is full: it takes no more, although 105 MB are free")
    #expect(
      FileFailure(.tooLarge(limit: 20_000_000), path: "p").sentence == "p: the file is larger than the limit of 20 MB")
    #expect(FileFailure(.notRegular(.fifo), path: "p").sentence == "p: is a FIFO, not a regular file")
    #expect(FileFailure(.ioError(EIO), path: "p").sentence == "p: Input/output error")
    #expect(
      FileFailure(.pathSeparator, name: Array("../x\n".utf8)).sentence
        == "../x\\x0a: the name contains a slash or backslash")
  }

  @Test("what breaks an offer is the peer's fault, what breaks a disk is ours")
  func blame() {
    let peer: [FileFailure.Code] = [
      .tooManyBytes(offered: 1), .tooFewBytes(offered: 2, received: 1), .tooLarge(limit: 1), .nameRefused(.hidden),
      .digestMismatch(expected: digest([1]), actual: digest([2])),
    ]
    let local: [FileFailure.Code] = [
      .missing, .unreadable, .diskFull(needed: 1, free: 0), .noPermission, .directoryVanished, .directoryReplaced,
      .readOnly, .exists, .noRoomForFiles(free: 1), .partialFileRemoved, .shrank(offered: 1, size: 0),
      .grew(offered: 1, size: 2), .changed, .ioError(EIO), .quotaExceeded,
    ]
    for code in peer { #expect(FileFailure(code, path: "").blame == .peer) }
    for code in local { #expect(FileFailure(code, path: "").blame == .local) }
  }

  @Test("an errno becomes the code that says what it means for reading or for writing")
  func errnos() {
    let cases: [(CInt, FileFailure.Operation, FileFailure.Code)] = [
      (EACCES, .readingFile, .unreadable), (EACCES, .writingFile, .noPermission), (EROFS, .writingFile, .readOnly),
      (EDQUOT, .writingFile, .quotaExceeded), (EFBIG, .writingFile, .tooLarge(limit: nil)),
      (EIO, .writingFile, .ioError(EIO)), (EIO, .readingFile, .ioError(EIO)), (ENOENT, .readingFile, .missing),
      (ENAMETOOLONG, .writingFile, .nameRefused(.tooLong)), (EMFILE, .readingFile, .ioError(EMFILE)),
    ]
    for (number, operation, code) in cases {
      #expect(FileFailure(errno: number, operation, path: "p").code == code)
    }
  }

  @Test("a call for which no descriptor is free is made again, any other failure counts at once")
  func fewDescriptors() {
    for number in [EMFILE, ENFILE, EINTR] {
      var calls = 0
      let outcome = FileDescriptor.retrying { () -> Int32 in
        calls += 1
        guard calls < 4 else { return 7 }
        errno = number
        return -1
      }
      #expect(outcome == (7, 0) && calls == 4)
    }
    var calls = 0
    let outcome = FileDescriptor.retrying { () -> Int32 in
      calls += 1
      errno = ENOENT
      return -1
    }
    #expect(outcome == (-1, ENOENT) && calls == 1)
  }
}
