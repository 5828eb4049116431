import PiconetFiles

/// Counts of bytes as a person reads them.
package typealias ByteFigures = PiconetFiles.ByteFigures
