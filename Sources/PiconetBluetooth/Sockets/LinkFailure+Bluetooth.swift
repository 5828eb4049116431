import Glibc
import PiconetEngine
import PiconetRuntime

extension LinkFailure {
  /// Translates an error number of a call on a Bluetooth socket for a link, with advice.
  ///
  /// Results of a controller or the remote side are error numbers too; the kernel's `bt_to_errno` translates the codes
  /// of Core 5.4, Vol 1 Part F. All the numbers that it can return are here.
  init(bluetooth call: String, number: Int32) {
    let (code, advice) = Self.meaning(of: number, in: call)
    self.init(code, "\(call): \(SystemError.text(number))\(advice.isEmpty ? "" : "; \(advice)")")
  }

  init(bluetooth error: SystemError) { self.init(bluetooth: error.call, number: error.number) }

  /// After the last pairing agent has ended, bluetoothd refuses in its user's place.
  private static let agentAdvice = "run 'bluetoothctl --agent NoInputNoOutput' there"

  private static func meaning(of number: Int32, in call: String) -> (Code, String) {
    switch number {
    case ECONNREFUSED:
      (
        .refused,
        """
        nobody listens there, or the device does not let us in: its user may have been asked, and have said no, or its \
        last pairing agent has ended ('bluetoothctl'); pairing the devices ends that, or \
        \(Self.agentAdvice)
        """
      )
    // Page timeout, advertising timeout.
    case EHOSTDOWN: (.hostDown, "the device does not answer: is it on and near?")
    case EHOSTUNREACH, ENETUNREACH: (.unreachable, "no adapter that is switched on leads there")
    // Connection timeout, connection accept timeout.
    case ETIMEDOUT: (.timedOut, "the device went out of range, or is busy")
    // Remote user, low resources, power off.
    case ECONNRESET: (.reset, "the device has ended the link")
    // Terminated by the local host, which includes an adapter that was switched off or pulled out.
    case ECONNABORTED, ENOTCONN, EPIPE, ENETRESET: (.reset, "the link is gone; an adapter was switched off, perhaps")
    case EMLINK:
      (.connectionLimit, "an adapter has at most 7 active links, and this one or the peer's has them all; end one")
    case EBUSY, EALREADY: (.busy, "there is a connection to this device that begins or ends; try again")
    case EADDRINUSE: (.busy, "another program listens there")
    case EAGAIN, ENOBUFS, ENOMEM: (.busy, "the kernel or the controller is out of memory")
    case EACCES where call == "connect":
      (
        .authentication,
        "the pairing was refused; pair the devices again, or \(Self.agentAdvice) if no pairing agent is left there"
      )
    // The channel was open, so the devices had authenticated each other: the controllers have failed to do so once
    // more, which happens when both begin to at the same time.
    case EACCES where call == "recv" || call == "send": (.reset, "the controllers could not secure the link again")
    case EACCES, EPERM: (.permission, "this needs a privilege")
    // PIN or key missing.
    case EBADE: (.authentication, "one of the devices has forgotten the pairing; remove it on both and pair again")
    // Repeated attempts.
    case ELOOP: (.authentication, "too many attempts to pair; wait a while")
    case EKEYREJECTED, EKEYEXPIRED, ENOKEY: (.authentication, "pair the devices again")
    case EMFILE, ENFILE: (.tooManyDescriptors, "")
    case EAFNOSUPPORT, EPFNOSUPPORT, ESOCKTNOSUPPORT: (.notAvailable, "this kernel has no Bluetooth")
    // Unsupported remote feature; from socket(2): no such protocol in this kernel.
    case EPROTONOSUPPORT: (.notAvailable, "the kernel or the device lacks this kind of link")
    case EOPNOTSUPP: (.notAvailable, "the adapter or the device can't do this kind of link")
    case ENODEV, ENETDOWN, ENONET, ENXIO, EADDRNOTAVAIL: (.notAvailable, "the adapter is switched off or gone")
    case ERFKILL: (.notAvailable, "the adapter is blocked; rfkill unblock bluetooth")
    // For codes to which the kernel assigns no number; when connecting, that is "connection failed to be established"
    // (LE).
    case ENOSYS where call == "connect": (.unreachable, "the controllers made no link; go nearer and try again")
    case EIO: (.other, "the adapter's hardware failed; unplug it or reset it")
    // LMP errors; role changes and encryption modes that were not accepted.
    case EPROTO: (.other, "the two adapters did not agree")
    case ECANCELED: (.cancelled, "")
    // EINVAL, EBADRQC, ENOSYS, and numbers that Bluetooth does not use.
    default: (.other, "")
    }
  }
}
