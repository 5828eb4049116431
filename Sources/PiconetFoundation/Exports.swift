// A program that wants Foundation's types needs the rest of Foundation as well.
@_exported import Foundation
@_exported import Piconet
