internal import Causeway
internal import CausewaySystem
internal import Dispatch

/// A byte buffer of limited size between a writer and a reader, which may run on different threads.
///
/// A writer can block until there is space, and a reader until there are bytes; see ``wait(until:)``. After each
/// change, the observers are called on the thread that made the change, without a lock.
final class BytePipe: Sendable {
    private struct State: Sendable {
        var bytes: [UInt8] = []
        /// Index of the first unread byte.
        var offset = 0
        var hasFinished = false
        var isAbandoned = false
        var failure: NWError?
        var observers: [@Sendable () -> Void] = []
        var sleepers: [DispatchSemaphore] = []

        var count: Int { bytes.count - offset }
    }

    /// A snapshot of the pipe's state.
    struct Level: Sendable {
        /// Number of unread bytes.
        var count = 0
        /// Number of bytes that can be written; 0 if the pipe accepts no more bytes.
        var room = 0
        /// Whether the writer has finished and the reader has read all bytes.
        var isAtEnd = false
        /// Whether the reader is closed.
        var isAbandoned = false
        var failure: NWError?
    }

    /// Maximum number of unread bytes.
    let capacity: Int
    private let state = LockedValue(State())

    init(capacity: Int) { self.capacity = max(1, capacity) }

    func observe(_ observer: @escaping @Sendable () -> Void) { state.withLock { $0.observers.append(observer) } }

    /// The state of the pipe at one moment. All values are read together, because a change could happen between
    /// separate reads.
    var level: Level {
        state.withLock { state in
            let isOpen = !state.hasFinished && !state.isAbandoned && state.failure == nil
            return Level(
                count: state.count, room: isOpen ? capacity - state.count : 0,
                isAtEnd: state.hasFinished && state.count == 0, isAbandoned: state.isAbandoned, failure: state.failure)
        }
    }
    var count: Int { level.count }
    var room: Int { level.room }
    var isAtEnd: Bool { level.isAtEnd }
    var isAbandoned: Bool { level.isAbandoned }
    var failure: NWError? { level.failure }
    /// Whether the writer has finished, so that no more bytes will be written.
    var hasFinished: Bool { state.withLock { $0.hasFinished } }

    /// Writes as many bytes as fit, and returns their number.
    func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        let count = state.withLock { state -> Int in
            guard !state.hasFinished, !state.isAbandoned, state.failure == nil else { return 0 }
            let count = min(bytes.count, capacity - state.count)
            if state.offset > 0, state.offset == state.bytes.count {
                state.bytes.removeAll(keepingCapacity: true)
                state.offset = 0
            }
            state.bytes.append(contentsOf: bytes.prefix(count))
            return count
        }
        if count > 0 { changed() }
        return count
    }

    /// Reads as many bytes as are available and fit into the buffer, and returns their number.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = state.withLock { state -> Int in
            let count = min(buffer.count, state.count)
            buffer.copyBytes(from: state.bytes[state.offset..<(state.offset + count)])
            state.offset += count
            // Remove the read bytes in large steps instead of after each read, because each removal moves the remaining bytes.
            if state.offset >= capacity || state.offset == state.bytes.count {
                state.bytes.removeFirst(state.offset)
                state.offset = 0
            }
            return count
        }
        if count > 0 { changed() }
        return count
    }

    /// Ends writing. Bytes already written can still be read.
    func finish() { change { $0.hasFinished = true } }

    /// Closes the reader, and discards the unread bytes.
    func abandon() {
        change { state in
            state.isAbandoned = true
            (state.bytes, state.offset) = ([], 0)
        }
    }

    /// Ends writing with a failure. Bytes already written can still be read. Only the first failure is stored.
    func fail(_ failure: NWError) { change { $0.failure = $0.failure ?? failure } }

    /// Blocks the thread until the condition is true. The condition is checked before the thread blocks, and again
    /// after each change of the pipe.
    func wait(until isTrue: () -> Bool) {
        while true {
            let sleeper = DispatchSemaphore(value: 0)
            state.withLock { $0.sleepers.append(sleeper) }
            // Register the semaphore before this check. Every change after the check then wakes this thread.
            if isTrue() { return state.withLock { state in state.sleepers.removeAll { $0 === sleeper } } }
            sleeper.wait()
        }
    }

    /// Wakes the threads that wait for this pipe, and calls its observers.
    func changed() {
        let (sleepers, observers) = state.withLock { state in
            defer { state.sleepers = [] }
            return (state.sleepers, state.observers)
        }
        for sleeper in sleepers { sleeper.signal() }
        for observer in observers { observer() }
    }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { body(&$0) }
        changed()
    }
}
