import Glibc
import PiconetEngine
import PiconetRuntime
import Testing

@testable import PiconetBluetooth

@Suite struct BluetoothFailureTests {
  /// What the kernel makes of each code of a controller (`bt_to_errno`), and what that means.
  static let ofControllers: [(number: Int32, code: LinkFailure.Code)] = [
    (EBADRQC, .other), (ENOTCONN, .reset), (EIO, .other), (EHOSTDOWN, .hostDown), (EACCES, .authentication),
    (EBADE, .authentication), (ENOMEM, .busy), (ETIMEDOUT, .timedOut), (EMLINK, .connectionLimit), (EALREADY, .busy),
    (EBUSY, .busy), (ECONNREFUSED, .refused), (EOPNOTSUPP, .notAvailable), (EINVAL, .other), (ECONNRESET, .reset),
    (ECONNABORTED, .reset), (ELOOP, .authentication), (EPROTONOSUPPORT, .notAvailable), (EPROTO, .other),
    (ENOSYS, .unreachable),
  ]

  static let ofTheKernel: [(number: Int32, code: LinkFailure.Code)] = [
    (EHOSTUNREACH, .unreachable), (ENETDOWN, .notAvailable), (ENODEV, .notAvailable), (EAFNOSUPPORT, .notAvailable),
    (EPERM, .permission), (EMFILE, .tooManyDescriptors), (ENFILE, .tooManyDescriptors), (ENOBUFS, .busy),
    (EADDRINUSE, .busy), (EADDRNOTAVAIL, .notAvailable), (ERFKILL, .notAvailable), (ECANCELED, .cancelled),
    (EPIPE, .reset), (EKEYREJECTED, .authentication),
  ]

  @Test(arguments: ofControllers + ofTheKernel) func everyErrorOfAConnectHasItsMeaning(
    number: Int32, code: LinkFailure.Code
  ) {
    let failure = LinkFailure(bluetooth: "connect", number: number)
    #expect(failure.code == code)
    #expect(failure.detail.hasPrefix("connect: \(SystemError.text(number))"))
  }

  @Test func aPortWithoutPermissionIsNoFailedPairing() {
    #expect(LinkFailure(bluetooth: "bind", number: EACCES).code == .permission)
    #expect(LinkFailure(bluetooth: "connect", number: EACCES).code == .authentication)
  }

  @Test("an open channel whose link can't be secured again is lost, and needs no pairing", arguments: ["send", "recv"])
  func openChannelIsLost(call: String) {
    let failure = LinkFailure(bluetooth: call, number: EACCES)
    #expect(failure.code == .reset && !failure.detail.contains("pair the devices"))
  }

  @Test(arguments: [EHOSTDOWN, EHOSTUNREACH, EMLINK, EBADE, EAFNOSUPPORT, ERFKILL, ECONNREFUSED])
  func theTextSaysWhatToDo(number: Int32) {
    #expect(LinkFailure(bluetooth: "connect", number: number).detail.contains("; "))
  }

  @Test func aDialsCodeIsTheOneThatSaysMost() {
    let losses = [LinkFailure.Code.hostDown, .refused, .timedOut].map {
      DialSequence.Loss(subject: "place", failure: LinkFailure($0))
    }
    #expect(LinkFailure(losses).code == .refused)
    #expect(
      LinkFailure(losses).detail
        == "place: the device is not there; place: nobody listens there; place: no answer in time")
    #expect(LinkFailure([DialSequence.Loss]()).code == .notAvailable)
  }

  @Test func aLookUpThatNamesTheDeviceIsNotNamedAfterItAgain() {
    let device = "00:11:22:33:44:55"
    for detail in ["\(device): connect: refused", "\(device) has no record of this session"] {
      let loss = DialSequence.Loss(subject: device, failure: LinkFailure(.noService, detail))
      #expect(loss.description == detail)
    }
  }
}
