import CausewaySystem
import Dispatch
import Synchronization

/// The size and the time after which a capture continues in the next file.
struct CaptureRotation: Sendable {
    var byteCount: Int?
    var seconds: Int?
    /// Maximum number of files. With a size limit, the newest file replaces the oldest. With only a time limit, the
    /// capture ends after this number of files.
    var fileCount: Int?

    static let none = CaptureRotation()
    var isOn: Bool { byteCount != nil || seconds != nil }
}

/// The age and the size of the current capture file.
struct CaptureFileAge: Sendable {
    let rotation: CaptureRotation
    /// The number of bytes in the file.
    var byteCount = 0
    private let began = ContinuousClock.now

    init(_ rotation: CaptureRotation) { self.rotation = rotation }

    /// Whether the file has reached its time limit, or would reach its size limit with `more` bytes.
    func isOver(with more: Int) -> Bool {
        let isLarge = rotation.byteCount.map { byteCount + more >= $0 } ?? false
        let isOld = rotation.seconds.map { ContinuousClock.now - began >= .seconds($0) } ?? false
        return isLarge || isOld
    }
}

/// Writes capture files on a separate thread.
///
/// Unwritten data waits in memory, up to a limit. At the limit, packets are dropped and counted if `mayDrop` is set.
/// Otherwise the caller waits.
final class CaptureFiles: Sendable {
    private struct State: ~Copyable {
        var file: OpenFile?
        var number = 0
        var names: [String] = []
        /// The length of the current file up to the end of its final complete packet, in bytes.
        var written = 0
        var failure: CommandFailure?
    }

    /// Maximum number of unwritten bytes.
    private static let room = 256 << 20

    private let path: String
    private let rotation: CaptureRotation
    private let mayDrop: Bool
    private let queue = DispatchQueue(label: "nw.capture.files")
    private let state: Mutex<State>
    private let waiting = Atomic<Int>(0)
    private let dropped = Atomic<Int>(0)
    private let hasEnded = Atomic<Bool>(false)
    private let hasFailed = Atomic<Bool>(false)

    var droppedCount: Int { dropped.load(ordering: .relaxed) }
    var isFull: Bool { hasEnded.load(ordering: .relaxed) }

    /// - Parameter mayDrop: Whether to drop packets if the disk is slow. Otherwise the caller waits.
    init(_ path: String, _ rotation: CaptureRotation, mayDrop: Bool) throws {
        self.path = path
        self.rotation = rotation
        self.mayDrop = mayDrop
        let name = Self.name(path, rotation, 0)
        let file = try Self.create(name)
        state = Mutex(State(file: consume file, names: [name]))
    }

    private static func create(_ name: String) throws -> OpenFile {
        do { return try OpenFile(creating: name) } catch { throw CommandFailure("create \(name) failed", error) }
    }

    /// Returns the name of a capture file. The first file has the given name. Later files have a number after it.
    ///
    /// With limits on size and file count, all numbers have the same count of digits. With a time limit, fields such as
    /// `%H` are replaced with the current time.
    private static func name(_ path: String, _ rotation: CaptureRotation, _ number: Int) -> String {
        if rotation.seconds != nil, path.contains("%") {
            var now = time(nil)
            var fields = tm()
            localtime_r(&now, &fields)
            var text = [CChar](repeating: 0, count: 4096)
            let count = strftime(&text, text.count, path, &fields)
            if count > 0 { return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) }
        }
        if rotation.byteCount != nil, let count = rotation.fileCount {
            let digits = String(number % count)
            return path + String(repeating: "0", count: String(count - 1).count - digits.count) + digits
        }
        return number == 0 ? path : "\(path)\(number)"
    }

    func append(_ bytes: [UInt8], packets: Int) throws {
        try check()
        if waiting.load(ordering: .relaxed) + bytes.count > Self.room {
            guard !mayDrop else {
                dropped.wrappingAdd(packets, ordering: .relaxed)
                return
            }
            queue.sync {}
        }
        waiting.wrappingAdd(bytes.count, ordering: .relaxed)
        queue.async { [self] in
            write(bytes, packets: packets)
            waiting.wrappingSubtract(bytes.count, ordering: .relaxed)
        }
    }

    /// Starts the next file. Data appended after this call is written there.
    func rotate() {
        queue.async { [self] in
            do { try beginFile() } catch {
                fail(error as? CommandFailure ?? CommandFailure("cannot create the next file", error))
            }
        }
    }

    /// Waits until all data is written.
    func finish() throws {
        queue.sync {}
        try check()
    }

    private func check() throws {
        guard hasFailed.load(ordering: .relaxed) else { return }
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    private func fail(_ failure: CommandFailure) {
        state.withLock { $0.failure = failure }
        hasFailed.store(true, ordering: .relaxed)
    }

    /// Writes a batch of packets. If the write fails, truncates the file after its last complete packet, so that every
    /// program can read the file.
    private func write(_ bytes: [UInt8], packets: Int) {
        guard !isFull else { return }
        guard !hasFailed.load(ordering: .relaxed) else {
            dropped.wrappingAdd(packets, ordering: .relaxed)
            return
        }
        let failure: CommandFailure? = state.withLock { state in
            do {
                try bytes.withUnsafeBytes { try state.file?.writeAll($0) }
                state.written += bytes.count
                return nil
            } catch {
                state.file?.cut(to: state.written)
                return CommandFailure("write \(state.names.last ?? path) failed", error)
            }
        }
        guard let failure else { return }
        dropped.wrappingAdd(packets, ordering: .relaxed)
        fail(failure)
    }

    private func beginFile() throws {
        try state.withLock { state throws in
            state.number += 1
            state.file = nil
            state.written = 0
            if rotation.byteCount == nil, let count = rotation.fileCount, state.number >= count {
                return hasEnded.store(true, ordering: .relaxed)
            }
            // Remove only files that this capture has created. `names` contains no other files.
            if let count = rotation.fileCount, state.names.count >= count { unlink(state.names.removeFirst()) }
            var name = Self.name(path, rotation, state.number)
            if state.names.contains(name) { name += ".\(state.number)" }
            state.file = try Self.create(name)
            state.names.append(name)
        }
    }
}
