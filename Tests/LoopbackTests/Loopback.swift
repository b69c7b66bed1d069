import Testing

/// All tests that open sockets on the loopback interface. Serialized, so that descriptors, memory and ports can be counted, and so that few
/// processors suffice.
@Suite(.serialized)
struct Loopback {}
