/// Bytes that share the storage they were read into: a message or a chunk is a slice of what one read gave, never a copy.
public typealias Bytes = ArraySlice<UInt8>
