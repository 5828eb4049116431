import Glibc

#if DECODER || ENGINE
  import PiconetTestKit
#endif

/// One input.
/// - Returns: what is wrong, or nil.
func run(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
  #if DECODER
    FuzzTarget.decoder.run(bytes)
  #elseif ENGINE
    FuzzTarget.engine.run(bytes)
  #elseif SDP
    SDPFuzz.run(bytes)
  #elseif DNSSD
    DNSSDFuzz.run(bytes)
  #elseif CALLS
    CallsFuzz.run(bytes)
  #endif
}

/// What libFuzzer calls with each input. A finding ends the process, so that libFuzzer keeps the input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  if let finding = run(UnsafeBufferPointer(start: start, count: count)) {
    let line = Array("finding: \(finding)\n".utf8)
    _ = write(2, line, line.count)
    abort()
  }
  return 0
}
