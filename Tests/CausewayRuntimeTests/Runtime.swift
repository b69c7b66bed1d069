import Testing

/// Contains the tests of the runtime, which run one at a time.
///
/// The tests block their own threads. On a machine with two processors, the thread pool has only two threads. The work
/// for which a test waits needs one of these threads.
@Suite(.serialized) enum Runtime {}
