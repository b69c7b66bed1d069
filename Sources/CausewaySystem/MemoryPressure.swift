internal import CCausewayLinux

/// Reports when tasks wait for memory (pressure stall information, `Documentation/accounting/psi.rst` in the kernel's
/// sources).
///
/// One thread waits on behalf of all observers, and ends when no observer is left. A kernel without this feature
/// reports nothing.
package final class MemoryPressure: Sendable {
    /// The condition to report: tasks waited 150 ms within 2 s. Only privileged programs may use a shorter window.
    private static let trigger = "some 150000 2000000"

    /// This computer's memory pressure.
    package static let shared = MemoryPressure(path: "/proc/pressure/memory")

    private struct State {
        var observers: [UInt64: @Sendable () -> Void] = [:]
        var lastObserver: UInt64 = 0
        var isWatching = false
    }

    private let path: String
    private let state = LockedValue(State())
    private let wake: CInt

    package init(path: String) {
        self.path = path
        wake = cw_wake_create()
    }

    deinit { if wake >= 0 { _ = cw_close(wake) } }

    /// Calls a closure whenever memory is short, on this type's own thread. The closure must not block.
    ///
    /// - Returns: A number for ``remove(_:)``; `nil` if the kernel does not report pressure.
    package func observe(_ body: @escaping @Sendable () -> Void) -> UInt64? {
        let (id, mustStart) = state.withLock { state in
            state.lastObserver += 1
            state.observers[state.lastObserver] = body
            defer { state.isWatching = true }
            return (state.lastObserver, !state.isWatching)
        }
        if mustStart, !start() {
            state.withLock { state in
                state.isWatching = false
                state.observers[id] = nil
            }
            return nil
        }
        return id
    }

    /// Removes an observer. After this call, no new call to the observer begins. A call that is already running
    /// continues.
    package func remove(_ observer: UInt64) {
        let isLast = state.withLock { state in
            state.observers[observer] = nil
            return state.observers.isEmpty
        }
        if isLast { cw_wake_signal(wake) }
    }

    private func start() -> Bool {
        let number = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard number >= 0, wake >= 0 else { return false }
        // Also write the zero byte at the end of the condition. The kernel expects it.
        let isSet = Self.trigger.withCString { write(number, $0, Self.trigger.utf8.count + 1) } > 0
        guard isSet, (try? System.startThread(named: "memory-pressure") { self.watch(number) }) != nil else {
            _ = cw_close(number)
            return false
        }
        return true
    }

    private func watch(_ number: CInt) {
        defer { _ = cw_close(number) }
        while true {
            var entries = [
                pollfd(fd: number, events: Int16(POLLPRI), revents: 0),
                pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
            ]
            let result = poll(&entries, 2, -1)
            let isFailed = result < 0 && errno != EINTR
            if entries[1].revents != 0 { cw_wake_drain(wake) }
            let isGone = isFailed || Int32(entries[0].revents) & (POLLERR | POLLNVAL) != 0
            let observers = state.withLock { state -> [@Sendable () -> Void]? in
                guard !state.observers.isEmpty, !isGone else {
                    state.isWatching = false
                    return nil
                }
                return Int32(entries[0].revents) & POLLPRI != 0 ? Array(state.observers.values) : []
            }
            guard let observers else { return }
            for observer in observers { observer() }
        }
    }
}
