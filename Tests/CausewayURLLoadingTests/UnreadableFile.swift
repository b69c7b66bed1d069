import Foundation
import Testing

/// Makes a file unreadable for some time, also for root, which permissions do not stop.
///
/// A write lease refuses every other opening of the file that does not block (fcntl(2), F_SETLEASE), as the exhaustion
/// of descriptors would, but for this file only.
struct UnreadableFile: ~Copyable {
    private let descriptor: CInt

    init(_ path: String) throws {
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        try #require(descriptor >= 0)
        // This process holds the lease on the file. If another process wants the file, the kernel sends this process a
        // signal. The default signal would end this process, so choose another signal.
        try #require(fcntl(descriptor, Self.setSignal, SIGURG) == 0)
        try #require(fcntl(descriptor, Self.setLease, CInt(F_WRLCK)) == 0)
    }

    /// `F_SETSIG` and `F_SETLEASE`, which the C library declares for GNU programs only.
    private static let (setSignal, setLease): (CInt, CInt) = (10, 1024)

    deinit { close(descriptor) }
}
