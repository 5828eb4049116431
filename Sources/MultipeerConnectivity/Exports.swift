// Programs that import this module alone use Foundation and Dispatch, as they may with Apple's.
@_exported import Dispatch
@_exported import Foundation
// The submodules, from the C target CMultipeerConnectivity.
@_exported import MultipeerConnectivity
// `UIDevice`, as UIKit comes with Apple's module on iOS.
@_exported import PiconetDevice
@_exported import enum PiconetTerminal.UnattendedAnswer
