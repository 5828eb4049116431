/// Bytes that share the storage they were read into. A message or a chunk is a slice of what one read returned, never a
/// copy.
///
/// A slice keeps all of that storage alive. Code that keeps one for long, or keeps many small ones, must copy it.
/// Otherwise a peer that sends one small message per read would keep a whole read alive with each message.
public typealias Bytes = ArraySlice<UInt8>
