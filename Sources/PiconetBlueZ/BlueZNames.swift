/// Names that bluetoothd uses on D-Bus (BlueZ 5, doc/*-api.txt).
public enum BlueZNames {
  public static let service = "org.bluez"
  public static let managerPath = "/org/bluez"
  public static let adapterInterface = "org.bluez.Adapter1"
  public static let deviceInterface = "org.bluez.Device1"
  public static let profileManagerInterface = "org.bluez.ProfileManager1"
  public static let profileInterface = "org.bluez.Profile1"
  public static let agentManagerInterface = "org.bluez.AgentManager1"
  public static let agentInterface = "org.bluez.Agent1"
  public static let advertisingManagerInterface = "org.bluez.LEAdvertisingManager1"
  public static let advertisementInterface = "org.bluez.LEAdvertisement1"

  public static let objectManagerInterface = "org.freedesktop.DBus.ObjectManager"
  public static let propertiesInterface = "org.freedesktop.DBus.Properties"

  /// The paths of this process's objects, each on its own connection.
  public static let ownProfilePath = "/piconet/profile"
  public static let ownAdvertisementPath = "/piconet/advertisement"
  public static let ownAgentPath = "/piconet/agent"
}
