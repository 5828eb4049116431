/// What bluetoothd 5.66 said to a node on hci0 that searched while another one advertised on hci1, until both ended;
/// written by `BlueZTranscript`, without the properties and services that play no part in it.
enum Recordings {
  static let search = """
    + /org/bluez org.bluez.ProfileManager1
    + /org/bluez/hci0 org.bluez.Adapter1
    + /org/bluez/hci0 org.bluez.Adapter1 Address s 00:AA:01:00:00:00
    + /org/bluez/hci0 org.bluez.Adapter1 AddressType s public
    + /org/bluez/hci0 org.bluez.Adapter1 Alias s BlueZ%205.66
    + /org/bluez/hci0 org.bluez.Adapter1 Discoverable b false
    + /org/bluez/hci0 org.bluez.Adapter1 DiscoverableTimeout u 180
    + /org/bluez/hci0 org.bluez.Adapter1 Discovering b false
    + /org/bluez/hci0 org.bluez.Adapter1 Modalias s usb:v1D6Bp0246d0542
    + /org/bluez/hci0 org.bluez.Adapter1 Powered b true
    + /org/bluez/hci0 org.bluez.Adapter1 Roles as central,peripheral
    + /org/bluez/hci0 org.bluez.LEAdvertisingManager1
    + /org/bluez/hci0 org.bluez.LEAdvertisingManager1 ActiveInstances y 0
    + /org/bluez/hci0 org.bluez.LEAdvertisingManager1 SupportedInstances y 3
    + /org/bluez/hci1 org.bluez.Adapter1
    + /org/bluez/hci1 org.bluez.Adapter1 Address s 00:AA:01:01:00:01
    + /org/bluez/hci1 org.bluez.Adapter1 AddressType s public
    + /org/bluez/hci1 org.bluez.Adapter1 Alias s BlueZ%205.66
    + /org/bluez/hci1 org.bluez.Adapter1 Discoverable b false
    + /org/bluez/hci1 org.bluez.Adapter1 DiscoverableTimeout u 180
    + /org/bluez/hci1 org.bluez.Adapter1 Discovering b false
    + /org/bluez/hci1 org.bluez.Adapter1 Modalias s usb:v1D6Bp0246d0542
    + /org/bluez/hci1 org.bluez.Adapter1 Powered b true
    + /org/bluez/hci1 org.bluez.Adapter1 Roles as central,peripheral
    + /org/bluez/hci1 org.bluez.LEAdvertisingManager1
    + /org/bluez/hci1 org.bluez.LEAdvertisingManager1 ActiveInstances y 0
    + /org/bluez/hci1 org.bluez.LEAdvertisingManager1 SupportedInstances y 3
    = /org/bluez/hci1 org.bluez.Adapter1 DiscoverableTimeout u 61
    = /org/bluez/hci1 org.bluez.Adapter1 Discoverable b true
    = /org/bluez/hci1 org.bluez.LEAdvertisingManager1 ActiveInstances y 1
    = /org/bluez/hci1 org.bluez.LEAdvertisingManager1 SupportedInstances y 2
    = /org/bluez/hci0 org.bluez.Adapter1 Discovering b true
    + /org/bluez/hci0/dev_00_AA_01_01_00_01 org.bluez.Device1
    + /org/bluez/hci0/dev_00_AA_01_01_00_01 org.bluez.Device1 Adapter o /org/bluez/hci0
    + /org/bluez/hci0/dev_00_AA_01_01_00_01 org.bluez.Device1 Address s 00:AA:01:01:00:01
    + /org/bluez/hci0/dev_00_AA_01_01_00_01 org.bluez.Device1 AddressType s public
    + /org/bluez/hci0/dev_00_AA_01_01_00_01 org.bluez.Device1 Alias s BlueZ%205.66
    + /org/bluez/hci0/dev_00_AA_01_01_00_01 org.bluez.Device1 Connected b false
    + /org/bluez/hci0/dev_00_AA_01_01_00_01 org.bluez.Device1 Modalias s usb:v1D6Bp0246d0542
    + /org/bluez/hci0/dev_00_AA_01_01_00_01 org.bluez.Device1 Paired b false
    + /org/bluez/hci0/dev_00_AA_01_01_00_01 org.bluez.Device1 RSSI n -60
    + /org/bluez/hci0/dev_00_AA_01_01_00_01 org.bluez.Device1 UUIDs as 84418aee-f341-5a56-8800-939b07a4ef72
    + /org/bluez/hci0/dev_00_AA_01_01_00_01 org.bluez.Device1 Trusted b false
    + /org/bluez/hci0/dev_00_AA_01_01_00_01 org.bluez.Device1 TxPower n 0
    + /org/bluez/hci1/dev_00_AA_01_00_00_00 org.bluez.Device1
    + /org/bluez/hci1/dev_00_AA_01_00_00_00 org.bluez.Device1 Adapter o /org/bluez/hci1
    + /org/bluez/hci1/dev_00_AA_01_00_00_00 org.bluez.Device1 Address s 00:AA:01:00:00:00
    + /org/bluez/hci1/dev_00_AA_01_00_00_00 org.bluez.Device1 AddressType s public
    + /org/bluez/hci1/dev_00_AA_01_00_00_00 org.bluez.Device1 Alias s BlueZ%205.66
    + /org/bluez/hci1/dev_00_AA_01_00_00_00 org.bluez.Device1 Connected b true
    + /org/bluez/hci1/dev_00_AA_01_00_00_00 org.bluez.Device1 Paired b false
    + /org/bluez/hci1/dev_00_AA_01_00_00_00 org.bluez.Device1 Trusted b false
    = /org/bluez/hci0/dev_00_AA_01_01_00_01 org.bluez.Device1 Connected b true
    = /org/bluez/hci0/dev_00_AA_01_01_00_01 org.bluez.Device1 RSSI n 127
    x /org/bluez/hci0/dev_00_AA_01_01_00_01 org.bluez.Device1 TxPower
    x /org/bluez/hci0/dev_00_AA_01_01_00_01 org.bluez.Device1 RSSI
    = /org/bluez/hci0 org.bluez.Adapter1 Discovering b false
    = /org/bluez/hci0 org.bluez.Adapter1 Discovering b false
    = /org/bluez/hci1 org.bluez.Adapter1 Discoverable b false
    = /org/bluez/hci1 org.bluez.Adapter1 DiscoverableTimeout u 180
    = /org/bluez/hci1 org.bluez.LEAdvertisingManager1 ActiveInstances y 0
    = /org/bluez/hci1 org.bluez.LEAdvertisingManager1 SupportedInstances y 3
    """

  /// What bluetoothd said to a node on hci1 that had read the services of hci0 while no node advertised there, when a
  /// node appeared there afterwards: the device is heard, but its services stay what they were.
  static let readServices = """
    + /org/bluez org.bluez.ProfileManager1
    + /org/bluez/hci1 org.bluez.Adapter1
    + /org/bluez/hci1 org.bluez.Adapter1 Address s 00:AA:01:01:00:01
    + /org/bluez/hci1 org.bluez.Adapter1 Discovering b false
    + /org/bluez/hci1 org.bluez.Adapter1 Powered b true
    + /org/bluez/hci1/dev_00_AA_01_00_00_00 org.bluez.Device1
    + /org/bluez/hci1/dev_00_AA_01_00_00_00 org.bluez.Device1 Adapter o /org/bluez/hci1
    + /org/bluez/hci1/dev_00_AA_01_00_00_00 org.bluez.Device1 Address s 00:AA:01:00:00:00
    + /org/bluez/hci1/dev_00_AA_01_00_00_00 org.bluez.Device1 AddressType s public
    + /org/bluez/hci1/dev_00_AA_01_00_00_00 org.bluez.Device1 Alias s BlueZ%205.66
    + /org/bluez/hci1/dev_00_AA_01_00_00_00 org.bluez.Device1 Bonded b false
    + /org/bluez/hci1/dev_00_AA_01_00_00_00 org.bluez.Device1 Connected b true
    + /org/bluez/hci1/dev_00_AA_01_00_00_00 org.bluez.Device1 Modalias s usb:v1D6Bp0246d0542
    + /org/bluez/hci1/dev_00_AA_01_00_00_00 org.bluez.Device1 Paired b true
    + /org/bluez/hci1/dev_00_AA_01_00_00_00 org.bluez.Device1 ServicesResolved b true
    + /org/bluez/hci1/dev_00_AA_01_00_00_00 org.bluez.Device1 Trusted b false
    + /org/bluez/hci1/dev_00_AA_01_00_00_00 org.bluez.Device1 UUIDs as 0000110c-0000-1000-8000-00805f9b34fb,\
    0000110e-0000-1000-8000-00805f9b34fb,00001200-0000-1000-8000-00805f9b34fb,00001800-0000-1000-8000-00805f9b34fb,\
    00001801-0000-1000-8000-00805f9b34fb,0000180a-0000-1000-8000-00805f9b34fb
    = /org/bluez/hci1 org.bluez.Adapter1 Discovering b true
    = /org/bluez/hci1/dev_00_AA_01_00_00_00 org.bluez.Device1 RSSI n 127
    x /org/bluez/hci1/dev_00_AA_01_00_00_00 org.bluez.Device1 RSSI
    = /org/bluez/hci1 org.bluez.Adapter1 Discovering b false
    """
}
