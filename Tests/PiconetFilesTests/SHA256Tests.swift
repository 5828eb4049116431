import Testing

@testable import PiconetFiles

@Suite struct SHA256Tests {
  @Test(
    "the digests of FIPS 180-4's examples",
    arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
    ])
  func vectors(text: String, expected: String) {
    #expect(digest(Array(text.utf8)).hexadecimal == expected)
  }

  @Test("pieces of any size give the digest of the whole, and finishing twice gives it again")
  func pieces() throws {
    let million = [UInt8](repeating: 0x61, count: 1_000_000)
    let running = try #require(RunningSHA256())
    million.withUnsafeBytes { bytes in
      var rest = bytes[...]
      var size = 0
      while !rest.isEmpty {
        running.update(UnsafeRawBufferPointer(rebasing: rest.prefix(size)))
        rest = rest.dropFirst(size)
        size += 1
      }
    }
    let expected = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
    #expect(running.finish()?.hexadecimal == expected)
    #expect(running.finish()?.hexadecimal == expected)
  }

  @Test("a digest is read from 32 bytes or 64 digits and nothing else")
  func parsing() throws {
    let bytes = (0..<32).map { UInt8($0) }
    let digest = try #require(SHA256Digest(bytes: bytes))
    #expect(digest.bytes == bytes)
    #expect(SHA256Digest(hexadecimal: digest.hexadecimal.uppercased()) == digest)
    #expect(SHA256Digest(bytes: bytes.dropLast()) == nil)
    #expect(SHA256Digest(bytes: bytes + [0]) == nil)
    #expect(SHA256Digest(hexadecimal: String(repeating: "0", count: 63) + "g") == nil)
  }
}
