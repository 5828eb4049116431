import Testing

/// The session tests, written once against nodes, run over every transport that this machine has.
///
/// One after the other: adapters are shared, and what measures time should not wait for what computes.
@Suite("Sessions over every transport", .serialized)
enum SessionSuite {}
