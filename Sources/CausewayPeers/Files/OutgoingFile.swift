internal import Foundation
internal import Synchronization

/// A file that is being sent.
final class OutgoingFile: Sendable {
    let url: URL
    let size: UInt64
    let progress: Progress
    let completion: @Sendable (PeerFailure?) -> Void
    private let progressed: @Sendable (_ sent: Int64, _ total: Int64) -> Void
    private let handle = Mutex<FileHandle?>(nil)

    init(
        _ url: URL, _ size: UInt64, _ progress: Progress,
        _ progressed: @escaping @Sendable (_ sent: Int64, _ total: Int64) -> Void,
        _ completion: @escaping @Sendable (PeerFailure?) -> Void
    ) {
        self.progressed = progressed
        self.url = url
        self.size = size
        self.progress = progress
        self.completion = completion
    }

    /// Reads a block, and opens the file for the first one.
    ///
    /// - Throws: ``PeerFailure`` with `file`, also if the file became shorter.
    func read(_ offset: UInt64, _ count: Int) throws(PeerFailure) -> (bytes: [UInt8], isLast: Bool) {
        let wanted = Int(clamping: min(UInt64(count), size - min(offset, size)))
        do {
            let bytes = try handle.withLock { handle in
                let open = try handle ?? FileHandle(forReadingFrom: url)
                handle = open
                try open.seek(toOffset: offset)
                return try wanted == 0 ? Data() : open.read(upToCount: wanted) ?? Data()
            }
            guard bytes.count == wanted else { throw PeerFailure(.file, "\(url.path) became shorter") }
            progress.completedUnitCount = Int64(clamping: offset + UInt64(wanted))
            progressed(progress.completedUnitCount, progress.totalUnitCount)
            return ([UInt8](bytes), offset + UInt64(wanted) >= size)
        } catch {
            throw (error as? PeerFailure) ?? PeerFailure(.file, "cannot read \(url.path): \(error)")
        }
    }

    func close() { try? handle.withLock { $0.take() }?.close() }
}
