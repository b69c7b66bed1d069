internal import Causeway
internal import CausewaySystem
internal import Dispatch

/// A bounded buffer between one who writes and one who reads, on whatever threads they are.
///
/// It holds back the writer when it is full, and the reader when it is empty. Observers are called without a lock after every
/// change, on the thread that made it.
final class BytePipe: Sendable {
    private struct State: Sendable {
        var bytes: [UInt8] = []
        /// Where those begin that nobody has read.
        var offset = 0
        var hasFinished = false
        var isAbandoned = false
        var failure: NWError?
        var observers: [@Sendable () -> Void] = []
        var sleepers: [DispatchSemaphore] = []

        var count: Int { bytes.count - offset }
    }

    /// How it stands at one moment.
    struct Level: Sendable {
        /// Bytes to read.
        var count = 0
        /// Bytes that may be written; 0 when nobody takes any more.
        var room = 0
        /// Everything was read, and nothing follows.
        var isAtEnd = false
        /// Nobody reads any more.
        var isAbandoned = false
        var failure: NWError?
    }

    /// The most bytes that it holds.
    let capacity: Int
    private let state = LockedValue(State())

    init(capacity: Int) { self.capacity = max(1, capacity) }

    func observe(_ observer: @escaping @Sendable () -> Void) { state.withLock { $0.observers.append(observer) } }

    /// All of it together. Of two things asked for one after the other, the second may have come about with something that undoes the first.
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
    /// Nothing more is written.
    var hasFinished: Bool { state.withLock { $0.hasFinished } }

    /// Takes as many bytes as there is room for.
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

    /// Gives as many bytes as there are and fit.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = state.withLock { state -> Int in
            let count = min(buffer.count, state.count)
            buffer.copyBytes(from: state.bytes[state.offset..<(state.offset + count)])
            state.offset += count
            // What was read goes, but not byte by byte.
            if state.offset >= capacity || state.offset == state.bytes.count {
                state.bytes.removeFirst(state.offset)
                state.offset = 0
            }
            return count
        }
        if count > 0 { changed() }
        return count
    }

    /// The writer has ended; what it wrote can still be read.
    func finish() { change { $0.hasFinished = true } }

    /// The reader has gone.
    func abandon() {
        change { state in
            state.isAbandoned = true
            (state.bytes, state.offset) = ([], 0)
        }
    }

    /// Nothing moves any more but what is there to be read. Only the first failure counts.
    func fail(_ failure: NWError) { change { $0.failure = $0.failure ?? failure } }

    /// Blocks the thread until something holds that a change of the pipe brings about.
    func wait(until isTrue: () -> Bool) {
        while true {
            let sleeper = DispatchSemaphore(value: 0)
            state.withLock { $0.sleepers.append(sleeper) }
            // After the sleeper is known: a change from now on wakes it.
            if isTrue() { return state.withLock { state in state.sleepers.removeAll { $0 === sleeper } } }
            sleeper.wait()
        }
    }

    /// Wakes who waits, and tells the observers.
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
