import Testing

/// Tests with other programs over loopback addresses. They run one after another, beside the tests of ``Interop``.
///
/// Tests of both suites run at the same time, so a test in this suite uses:
///
/// - loopback addresses, with ports that the kernel or ``Scratch/freePort(_:using:)`` chooses, and local sockets
/// - files in the directory of its ``Scratch``, and files with unique names
/// - programs that it starts and ends itself, by their process identifiers
///
/// A test belongs in ``Interop`` if it uses network namespaces, multicast, Bonjour, a system bus, raw packets, packet
/// filters, kernel parameters or fixed ports. The same applies to a test that reads or changes the state of the whole
/// process: its environment, working directory, signal handlers, threads or descriptors.
@Suite(.serialized)
struct LoopbackInterop {}
