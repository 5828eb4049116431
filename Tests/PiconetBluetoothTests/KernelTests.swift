import CPiconetBluetooth
import Glibc
import Testing

@Test func theKernelSaysWhetherItHasBluetooth() {
  #expect([0, EAFNOSUPPORT, EPROTONOSUPPORT].contains(piconet_bluetooth_probe()))
}
