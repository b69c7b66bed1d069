import Testing

/// Contains the tests of the runtime. They wait on their own threads and run one at a time: a machine with two processors has two pool
/// threads, and the awaited work needs one of them.
@Suite(.serialized) enum Runtime {}
