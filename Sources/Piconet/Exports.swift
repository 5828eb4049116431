// `import Piconet` brings the types of lower modules that the public interface uses, and nothing else of those modules.
#if Bluetooth
  @_exported import struct PiconetAvahi.AvahiProbe
  @_exported import struct PiconetBluetooth.BluetoothProbe
  @_exported import struct PiconetBluetooth.DaemonProbe
#endif
@_exported import enum PiconetEngine.Blame
@_exported import struct PiconetEngine.ChannelPriorities
@_exported import enum PiconetEngine.ChannelPriority
@_exported import enum PiconetEngine.DeliveryMode
@_exported import struct PiconetEngine.InvalidConfiguration
@_exported import struct PiconetEngine.LinkFailure
@_exported import struct PiconetWire.NodeID
@_exported import enum PiconetEngine.RemovalPolicy
@_exported import enum PiconetEngine.SessionMembership
@_exported import struct PiconetEngine.RelayQuotas
@_exported import struct PiconetEngine.TransportAddress
@_exported import struct PiconetEngine.TransportFailure
@_exported import enum PiconetEngine.TransportKind
@_exported import enum PiconetFiles.ConflictPolicy
@_exported import struct PiconetFiles.FileFailure
@_exported import struct PiconetFiles.SHA256Digest
@_exported import struct PiconetHTTP.HTTPFailure
@_exported import struct PiconetHTTP.HTTPSettings
@_exported import enum PiconetDNSSD.AvahiFailure
@_exported import enum PiconetIP.DiscoveryObstacle
@_exported import struct PiconetTLS.KnownPeer
@_exported import struct PiconetTLS.KnownPeers
@_exported import struct PiconetTLS.NameSkeleton
@_exported import enum PiconetTLS.PeerConfirmation
@_exported import struct PiconetTLS.PeerRight
@_exported import struct PiconetTLS.StateFailure
@_exported import enum PiconetTLS.TrustPolicy
@_exported import struct PiconetTLS.TypedCode
@_exported import struct PiconetWire.Incarnation
@_exported import struct PiconetWire.MessageChannel
@_exported import struct PiconetWire.PeerID
