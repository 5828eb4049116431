import PiconetBlueZ
import Testing

@Test func interfacesAreThoseOfTheService() {
  #expect(BlueZNames.adapterInterface.hasPrefix(BlueZNames.service))
}
