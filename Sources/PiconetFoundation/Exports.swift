// A program that wants Foundation's types needs the rest as well.
@_exported import Foundation
@_exported import Piconet
