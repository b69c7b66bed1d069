import Foundation
import Testing

/// Makes a file unreadable for some time, also for root, which permissions do not stop.
///
/// A write lease refuses every other opening of the file that does not block (fcntl(2), F_SETLEASE), as the exhaustion
/// of descriptors would, but for this file only.
struct UnreadableFile: ~Copyable {
    private let descriptor: CInt

    init(_ path: String) throws {
        // The kernel gives a write lease only to the single opener of a file. A child that another test has just forked
        // may still have the file open, if this process had it open at that moment. So replace the file by a copy. The
        // copy is opened once, here, and a child that inherits this descriptor shares its lease.
        let copy = NSTemporaryDirectory() + "causeway-unreadable-" + UUID().uuidString
        let number = open(copy, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        descriptor = number
        try #require(number >= 0)
        let content = try Data(contentsOf: URL(fileURLWithPath: path))
        let count = content.withUnsafeBytes { write(number, $0.baseAddress, $0.count) }
        try #require(count == content.count)
        // This process holds the lease on the file. If another process wants the file, the kernel sends this process a
        // signal. The default signal would end this process, so choose another signal.
        try #require(fcntl(number, Self.setSignal, SIGURG) == 0)
        try #require(fcntl(number, Self.setLease, CInt(F_WRLCK)) == 0)
        // The file has the lease before it has its name, so no other thread can open it.
        try #require(rename(copy, path) == 0)
    }

    /// `F_SETSIG` and `F_SETLEASE`, which the C library declares for GNU programs only.
    private static let (setSignal, setLease): (CInt, CInt) = (10, 1024)

    deinit {
        // A child that was just forked may keep the descriptor open, and with it the lease. So release the lease.
        _ = fcntl(descriptor, Self.setLease, CInt(F_UNLCK))
        close(descriptor)
    }
}
