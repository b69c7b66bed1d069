internal import CCausewayLinux

/// This process's clocks, threads, signals, memory and limits.
package enum System {
    /// The monotonic clock's time. The clock's zero point is undefined, so only differences are meaningful.
    package static var now: Duration { .nanoseconds(Int64(truncatingIfNeeded: cw_now())) }

    /// How long the machine has slept since boot: the difference between CLOCK_BOOTTIME and CLOCK_MONOTONIC.
    package static var sleepTime: Duration {
        var (boot, awake) = (timespec(), timespec())
        guard clock_gettime(CLOCK_BOOTTIME, &boot) == 0, clock_gettime(CLOCK_MONOTONIC, &awake) == 0 else {
            return .zero
        }
        return .seconds(Int64(boot.tv_sec - awake.tv_sec)) + .nanoseconds(Int64(boot.tv_nsec - awake.tv_nsec))
    }

    /// Calls `body` when the process exits normally, but not when a signal ends it or when a forked process exits.
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

    /// Makes the process ignore a signal.
    package static func ignore(_ number: CInt) { _ = signal(number, SIG_IGN) }

    /// The signals with which a user ends a program. `SIGHUP` is not included if the process ignored it at the start,
    /// for example because of `nohup`.
    package static let endingSignals: [CInt] = {
        let previous = signal(SIGHUP, SIG_IGN)
        let isIgnored = unsafeBitCast(previous, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
        if !isIgnored { _ = signal(SIGHUP, previous) }
        return isIgnored ? [SIGINT, SIGTERM] : [SIGINT, SIGTERM, SIGHUP]
    }()

    /// Ends the process with a signal's default action.
    package static func end(by number: CInt) {
        _ = signal(number, SIG_DFL)
        kill(getpid(), number)
    }

    private struct ExitHandlers: Sendable {
        var process: pid_t?
        var bodies: [@Sendable () -> Void] = []
    }

    private static let exits = LockedValue(ExitHandlers())

    /// Makes the allocator return freed memory to the system, at a small cost in speed. Use this in mostly idle
    /// programs.
    package static func keepMemorySmall() { cw_keep_memory_small() }

    /// Makes the allocator keep some megabytes of freed memory. Use this in programs that allocate and free large
    /// blocks all the time: otherwise the main heap is trimmed whenever its end is free, and the kernel zeroes each new
    /// page.
    package static func keepFreedMemory() { cw_keep_freed_memory() }

    /// Asks the processor to load `byteCount` bytes from `start` into its cache. This is only a hint.
    package static func fetch(_ start: UnsafeRawPointer, byteCount: Int) { cw_fetch(start, byteCount) }

    /// Returns free memory to the system and drops the program's code pages. If a dropped page is needed again, the
    /// kernel reads it from the file. Call this after a phase that does not repeat, such as startup.
    package static func releaseMemory() { cw_release_memory() }

    /// The number of processors available to this process.
    package static var processorCount: Int { max(1, Int(cw_processor_count())) }

    /// This process's effective user ID.
    package static var user: UInt32 { geteuid() }

    /// Peak and current resident memory, in bytes.
    package static var residentMemory: (peak: Int, current: Int) {
        var (peak, current): (UInt64, UInt64) = (0, 0)
        cw_memory(&peak, &current)
        return (Int(peak), Int(current))
    }

    /// Raises the soft limit for open files to the hard limit.
    ///
    /// - Returns: The new limit.
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

    /// This process's maximum number of open files (`ulimit -n`).
    package static var openFileLimit: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        return Int(clamping: limit.rlim_cur)
    }

    /// Checks that Dispatch can open the descriptors that it may need for one more source: one each for epoll and
    /// wake-ups, three for clocks, and one for a signal. If Dispatch cannot open a descriptor, it traps.
    ///
    /// Call this function before you create a source or call `asyncAfter`. `DispatchQueue.call(after:_:)` of Causeway
    /// needs no descriptor.
    ///
    /// - Throws: The error of the first descriptor that cannot be opened, such as `EMFILE`.
    package static func checkRoomForSource() throws(SystemError) { try checkRoom(forFiles: 6) }

    /// Checks that this process can open `count` more files.
    ///
    /// - Throws: The error of the first file that cannot be opened, such as `EMFILE`.
    package static func checkRoom(forFiles count: Int) throws(SystemError) {
        var opened: [CInt] = []
        defer { for fd in opened { close(fd) } }
        for _ in 0..<count { opened.append(try check(cw_wake_create(), "eventfd")) }
    }

    /// The kernel's ephemeral port range.
    package static var temporaryPorts: ClosedRange<UInt16> {
        let numbers = (SmallFile.text("/proc/sys/net/ipv4/ip_local_port_range") ?? "")
            .split { $0 == "\t" || $0 == " " || $0 == "\n" }.compactMap { UInt16($0) }
        guard numbers.count == 2, numbers[0] <= numbers[1] else { return 32_768...60_999 }
        return numbers[0]...numbers[1]
    }

    /// Yields the processor to other threads. Returns immediately if none waits for it.
    package static func giveWay() { _ = sched_yield() }

    /// Leaves the processor to other threads for about a millisecond.
    package static func pauseBriefly() { _ = usleep(1_000) }

    /// Runs `body` on a new thread that blocks all signals.
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

/// The host's name.
package enum SystemHost {
    /// The host name from the kernel.
    package static var name: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            guard let start = buffer.baseAddress, gethostname(start, buffer.count) == 0 else { return "" }
            buffer[buffer.count - 1] = 0
            return String(cString: start)
        }
    }
}
