import Testing

/// Tests of the runtime wait for queues and loops on the thread they run on, one at a time: two processors have two threads for
/// all of them, and the work that is waited for needs one.
@Suite(.serialized) enum Runtime {}
