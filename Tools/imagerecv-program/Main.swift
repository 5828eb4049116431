import PiconetCommandLine

@main struct Main {
  static func main() { ImageReceiveProgram.main() }
}
