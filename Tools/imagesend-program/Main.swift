import PiconetCommandLine

@main struct Main {
  static func main() { ImageSendProgram.main() }
}
