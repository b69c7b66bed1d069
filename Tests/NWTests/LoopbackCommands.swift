import Testing

/// Commands of `nw` with each other, or with this process, over loopback addresses. Serialized: each test starts several
/// programs.
///
/// Nothing in this target needs another program, the rights of root or a network. Tests that do are in the package
/// `Interop`.
@Suite(.serialized)
struct LoopbackCommands {}
