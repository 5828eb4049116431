import CPiconetOpenSSL

/// Returns the SHA-256 (FIPS 180-4) of the parts, one after the other.
func sha256(_ parts: [UInt8]...) -> [UInt8] {
  let bytes = parts.count == 1 ? parts[0] : Array(parts.joined())
  var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
  _ = SHA256(bytes, bytes.count, &digest)
  return digest
}
