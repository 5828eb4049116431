/// Bytes that share the storage they were read into: a message or a chunk is a slice of what one read gave, never a
/// copy.
///
/// A slice keeps all of that storage alive. Who keeps one for long, or keeps many small ones, copies it: otherwise a
/// peer that sends one small message with each read holds a whole read of ours with every one of them.
public typealias Bytes = ArraySlice<UInt8>
