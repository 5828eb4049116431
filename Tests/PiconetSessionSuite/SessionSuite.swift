import TestSupport
import Testing

/// The session tests, written once against nodes, run over every transport that this machine has.
///
/// One after the other: adapters are shared, and what measures time should not wait for what computes.
@Suite(
  "Sessions over every transport", .serialized,
  .machine("--adapters 3 --env PICONET_SUITE=l2cap", or: .anywhere),
  // Over these only what a transport may do otherwise, unless all is wanted: see the suites that say so themselves.
  .machine(
    "--adapters 3 --env PICONET_SUITE=rfcomm", "--adapters 3 --env PICONET_SUITE=le", long: true, or: .anywhere))
enum SessionSuite {}
