import PiconetCommandLine

@main struct Main {
  static func main() { PiconetProgram.main() }
}
