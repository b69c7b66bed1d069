import Testing

/// Tests of the runtime wait for queues and loops on their own threads, one test at a time: two processors have two pool threads, and the
/// awaited work needs one of them.
@Suite(.serialized) enum Runtime {}
