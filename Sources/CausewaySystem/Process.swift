internal import CCausewayLinux

/// Clock, threads and memory of this process.
package enum System {
    /// Time of the monotonic clock, from an unspecified start.
    package static var now: Duration { .nanoseconds(Int64(truncatingIfNeeded: cw_now())) }

    /// How long the machine has slept since it was started: the clocks that count sleep and that do not, apart.
    package static var sleepTime: Duration {
        var (boot, awake) = (timespec(), timespec())
        guard clock_gettime(CLOCK_BOOTTIME, &boot) == 0, clock_gettime(CLOCK_MONOTONIC, &awake) == 0 else {
            return .zero
        }
        return .seconds(Int64(boot.tv_sec - awake.tv_sec)) + .nanoseconds(Int64(boot.tv_nsec - awake.tv_nsec))
    }

    /// Has `body` called when the process ends normally; not by a signal, and not in a process that forked off this one.
    package static func atExit(_ body: @escaping @Sendable () -> Void) {
        let isFirst = exits.withLock { exits in
            exits.bodies.append(body)
            defer { exits.process = getpid() }
            return exits.process == nil
        }
        guard isFirst else { return }
        atexit {
            let bodies = System.exits.withLock { $0.process == getpid() ? $0.bodies : [] }
            for body in bodies { body() }
        }
    }

    /// Lets a signal that ends the process come without effect.
    package static func ignore(_ number: CInt) { _ = signal(number, SIG_IGN) }

    /// Signals by which a user ends a program. `SIGHUP` is left out where the process was started with it ignored, as by `nohup`.
    package static let endingSignals: [CInt] = {
        let previous = signal(SIGHUP, SIG_IGN)
        let isIgnored = unsafeBitCast(previous, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
        if !isIgnored { _ = signal(SIGHUP, previous) }
        return isIgnored ? [SIGINT, SIGTERM] : [SIGINT, SIGTERM, SIGHUP]
    }()

    /// Ends the process as the signal would have ended it.
    package static func end(by number: CInt) {
        _ = signal(number, SIG_DFL)
        kill(getpid(), number)
    }

    private struct ExitHandlers: Sendable {
        var process: pid_t?
        var bodies: [@Sendable () -> Void] = []
    }

    private static let exits = LockedValue(ExitHandlers())

    /// Has the process give back what it lets go of, for a little speed: for programs that do little, for long.
    package static func keepMemorySmall() { cw_keep_memory_small() }

    /// Has the process keep some megabytes of what it lets go of: for programs that take and give large blocks all the time. The first
    /// thread's heap is otherwise cut each time its end is free, and each block is zeroed by the kernel anew.
    package static func keepFreedMemory() { cw_keep_freed_memory() }

    /// Has the processor fetch what will be touched soon: so many bytes from there on. It is a hint, and reads nothing.
    package static func fetch(_ start: UnsafeRawPointer, byteCount: Int) { cw_fetch(start, byteCount) }

    /// Gives back what is free now, and lets go of the program's code, of which there is more in memory the more different things it has
    /// done: what is still needed comes back from the file. For a moment after which other things are done than before.
    package static func releaseMemory() { cw_release_memory() }

    /// Processors that this process may run on.
    package static var processorCount: Int { max(1, Int(cw_processor_count())) }

    /// The user whose rights this process has.
    package static var user: UInt32 { geteuid() }

    /// Peak and current resident memory, in bytes.
    package static var residentMemory: (peak: Int, current: Int) {
        var (peak, current): (UInt64, UInt64) = (0, 0)
        cw_memory(&peak, &current)
        return (Int(peak), Int(current))
    }

    /// Lets this process open as many files as the system allows it to allow itself.
    ///
    /// - Returns: How many that are.
    package static func raiseOpenFileLimit() -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        if limit.rlim_cur < limit.rlim_max {
            let before = limit.rlim_cur
            limit.rlim_cur = limit.rlim_max
            if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) != 0 { limit.rlim_cur = before }
        }
        return Int(clamping: limit.rlim_cur)
    }

    /// How many files this process may have open at a time: `ulimit -n`.
    package static var openFileLimit: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        return Int(clamping: limit.rlim_cur)
    }

    /// Checks that this process can still open `count` files. Dispatch traps where it cannot open the descriptors of a source.
    ///
    /// - Throws: The error of the first that cannot be opened, such as `EMFILE`.
    package static func checkRoom(forFiles count: Int) throws(SystemError) {
        var opened: [CInt] = []
        defer { for fd in opened { close(fd) } }
        for _ in 0..<count { opened.append(try check(cw_wake_create(), "eventfd")) }
    }

    /// Ports that the kernel gives to sockets which ask for none in particular.
    package static var temporaryPorts: ClosedRange<UInt16> {
        let numbers = (SmallFile.text("/proc/sys/net/ipv4/ip_local_port_range") ?? "")
            .split { $0 == "\t" || $0 == " " || $0 == "\n" }.compactMap { UInt16($0) }
        guard numbers.count == 2, numbers[0] <= numbers[1] else { return 32_768...60_999 }
        return numbers[0]...numbers[1]
    }

    /// Lets other threads that wait for this processor run first. Without any it returns at once.
    package static func giveWay() { _ = sched_yield() }

    /// Runs `body` on a new thread that takes no signals.
    package static func startThread(named name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        final class Box {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        let context = Unmanaged.passRetained(Box(body))
        let status = cw_thread_start(
            name, { Unmanaged<Box>.fromOpaque($0!).takeRetainedValue().body() }, context.toOpaque())
        if status < 0 { context.release() }
        try check(status, "pthread_create")
    }
}

/// What the system calls this host.
package enum SystemHost {
    /// The host's name, as the kernel has it.
    package static var name: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard let start = buffer.baseAddress, gethostname(start, buffer.count) == 0 else { return "" }
            buffer[buffer.count - 1] = 0
            return String(cString: start)
        }
    }
}
