// As Apple's module does, this one brings Foundation and Dispatch with it: many files import nothing else.
@_exported import Dispatch
@_exported import Foundation
// The submodules, from the C target CGameKit.
@_exported import GameKit
// `UIDevice`, as UIKit comes with Apple's module on iOS.
@_exported import PiconetDevice
@_exported import enum PiconetTerminal.UnattendedAnswer
