/// Bytes that share the storage they were read into: a message or a chunk is a slice of what one read returned, never a
/// copy.
///
/// A slice keeps all of that storage alive. Code that keeps one for long, or keeps many small ones, must copy it:
/// otherwise a peer that sends one small message per read keeps a whole read of ours alive with each of them.
public typealias Bytes = ArraySlice<UInt8>
