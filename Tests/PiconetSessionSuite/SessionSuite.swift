import TestSupport
import Testing

/// The session tests, written once for nodes, and run over every transport that this machine has.
///
/// One after the other: adapters are shared, and a test that measures time should not wait for one that computes.
@Suite(
  "Sessions over every transport", .serialized,
  .machine("--adapters 3 --env PICONET_SUITE=l2cap", or: .anywhere),
  // Over these run only the tests of what a transport may do differently, unless all are wanted: see the suites that
  // say so.
  .machine(
    "--adapters 3 --env PICONET_SUITE=rfcomm", "--adapters 3 --env PICONET_SUITE=le", long: true, or: .anywhere))
enum SessionSuite {}
