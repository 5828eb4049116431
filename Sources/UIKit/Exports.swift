@_exported import PiconetDevice
