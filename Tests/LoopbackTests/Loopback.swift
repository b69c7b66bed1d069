import Testing

/// Everything that opens sockets on the loopback interface: one test at a time, so that descriptors, memory and ports can be
/// counted, and so that few processors suffice.
@Suite(.serialized)
struct Loopback {}
