internal import CausewayProtocols
package import CausewaySystem
internal import Dispatch

/// An event loop that uses `DispatchSource`. It is slower than ``EpollLoop``, but works wherever Dispatch works.
///
/// Tests compare the epoll loop with this loop. A dispatch source is level-triggered: it reports again and again while
/// a descriptor is ready. This loop reports each change only once. It suspends a source after each report, and resumes
/// it when ``await(_:of:)`` or ``update(_:_:for:)`` is called. So while the program does not receive a stream's pending
/// content, the loop reports no new events of this stream.
package final class DispatchLoop: EventLoop {
    /// One descriptor's two dispatch sources, for reading and for writing. After creation, confined to the loop's
    /// queue.
    ///
    /// SAFETY: every member is touched on the loop's serial queue only.
    private final class Entry: @unchecked Sendable {
        var handler: any ReadinessHandler
        var read: (any DispatchSourceRead)?
        var write: (any DispatchSourceWrite)?
        /// For datagram sockets: an epoll set that contains the socket. `read` watches this set instead of the socket.
        ///
        /// A datagram socket can have an error without being readable. On Linux, Dispatch does not report such an
        /// error, and its manager thread then spins. With an error, the epoll set becomes readable, so Dispatch reports
        /// it.
        var edges: EdgeWatch?
        var interest: Readiness = []
        var isReadArmed = false
        var isWriteArmed = false
        var isClosed = false

        init(_ handler: any ReadinessHandler) { self.handler = handler }
    }

    /// A timer source. Dispatch objects may be used from any thread, but on Linux not all their types are declared
    /// `Sendable`.
    // SAFETY: the reference never changes, and dispatch sources are thread-safe.
    private final class Timer: @unchecked Sendable {
        let source: any DispatchSourceTimer
        init(on queue: DispatchQueue) { source = DispatchSource.makeTimerSource(queue: queue) }
    }

    private struct Shared {
        var entries: [UInt64: Entry] = [:]
        var lastToken: UInt64 = 0
        var timers: [UInt64: Timer] = [:]
        var callsAfterBatch: [@Sendable () -> Void] = []
    }

    private let queue: DispatchQueue
    private let shared = LockedValue(Shared())
    private let key = DispatchSpecificKey<Bool>()
    // SAFETY: written once, before the loop is shared.
    nonisolated(unsafe) private var executorStorage: LoopExecutor?

    /// Creates a loop if there are enough free descriptors.
    ///
    /// - Throws: `EMFILE` or `ENFILE` if no descriptors are left. Dispatch would trap in that case.
    package static func checked(name: String?) throws(SystemError) -> DispatchLoop {
        try System.checkRoomForSource()
        return DispatchLoop(name: name ?? "causeway")
    }

    package init(name: String) {
        queue = DispatchQueue(label: name, target: .global())
        // Start a first timer now. For it, Dispatch opens a descriptor for its clock and keeps the descriptor open. So
        // later timers need no new descriptor.
        queue.asyncAfter(deadline: .now()) {}
        queue.setSpecific(key: key, value: true)
        executorStorage = LoopExecutor { [unowned self] job in
            self.queue.async {
                job.runSynchronously(on: self.executor.asUnownedTaskExecutor())
                self.endBatch()
            }
        }
    }

    package var executor: LoopExecutor { executorStorage! }

    package var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }

    package func register(
        _ fd: CInt, for interest: Readiness, _ handler: any ReadinessHandler
    ) throws(SystemError) -> Registration {
        try System.checkRoomForSource()
        let entry = Entry(handler)
        let token = shared.withLock { shared in
            shared.lastToken += 1
            shared.entries[shared.lastToken] = entry
            return shared.lastToken
        }
        queue.async { self.arm(entry, fd, interest) }
        return Registration(token: token)
    }

    package func update(_ registration: Registration, _ fd: CInt, for interest: Readiness) {
        guard let entry = entry(registration) else { return }
        queue.async { self.renew(entry, fd, interest) }
    }

    package func hand(
        _ registration: Registration, _ fd: CInt, to handler: any ReadinessHandler, for interest: Readiness
    ) {
        guard let entry = entry(registration) else { return }
        queue.async {
            entry.handler = handler
            self.renew(entry, fd, interest)
        }
    }

    /// Whether the loop repeats readiness reports without a call of ``await(_:of:)``. Always `false`, because the loop
    /// suspends a dispatch source after each report.
    package var repeatsReports: Bool { false }

    package func await(_ readiness: Readiness, of registration: Registration) {
        guard let entry = entry(registration) else { return }
        queue.async {
            guard !entry.isClosed else { return }
            if readiness.contains(.readable), !entry.isReadArmed, let source = entry.read {
                entry.isReadArmed = true
                source.resume()
            }
            if readiness.contains(.writable), !entry.isWriteArmed, let source = entry.write {
                entry.isWriteArmed = true
                source.resume()
            }
        }
    }

    package func close(_ registration: Registration, _ descriptor: consuming Descriptor) {
        close(registration, descriptor) {}
    }

    package func close(
        _ registration: Registration, _ descriptor: consuming Descriptor, _ completion: @escaping @Sendable () -> Void
    ) {
        let fd = descriptor.release()
        let entry = shared.withLock { shared in shared.entries.removeValue(forKey: registration.token) }
        guard let entry else {
            Descriptor(adopting: fd).close()
            return completion()
        }
        // If this code runs on the loop's queue, set `isClosed` now. A report for this descriptor may already be queued
        // before the block below. Without the flag, the report would reach the handler.
        if isCurrent { entry.isClosed = true }
        queue.async {
            entry.isClosed = true
            // Cancel a suspended source first, and then resume it: Dispatch delivers the cancellation only while the
            // source is not suspended. Close the descriptor only after both sources are cancelled.
            let done = DispatchGroup()
            if let read = entry.read {
                done.enter()
                read.setCancelHandler { done.leave() }
                read.cancel()
                if !entry.isReadArmed { read.resume() }
            }
            if let write = entry.write {
                done.enter()
                write.setCancelHandler { done.leave() }
                write.cancel()
                if !entry.isWriteArmed { write.resume() }
            }
            (entry.read, entry.write) = (nil, nil)
            done.notify(queue: self.queue) {
                entry.edges = nil
                Descriptor(adopting: fd).close()
                completion()
                self.endBatch()
            }
        }
    }

    package func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> TimerID {
        let timer = Timer(on: queue)
        let id = shared.withLock { shared in
            shared.lastToken += 1
            shared.timers[shared.lastToken] = timer
            return shared.lastToken
        }
        timer.source.setEventHandler { [unowned self] in
            guard self.shared.withLock({ shared in shared.timers.removeValue(forKey: id) }) != nil else { return }
            body()
            self.endBatch()
        }
        timer.source.schedule(deadline: .now() + .nanoseconds(Int(max(delay, .zero).nanoseconds)))
        timer.source.activate()
        return TimerID(value: id)
    }

    package func cancel(_ timer: TimerID) {
        shared.withLock { shared in shared.timers.removeValue(forKey: timer.value) }?.source.cancel()
    }

    package func execute(_ body: @escaping @Sendable () -> Void) {
        queue.async {
            body()
            self.endBatch()
        }
    }

    package func callAfterBatch(_ body: @escaping @Sendable () -> Void) {
        shared.withLock { shared in shared.callsAfterBatch.append(body) }
    }

    private func entry(_ registration: Registration) -> Entry? {
        shared.withLock { shared in shared.entries[registration.token] }
    }

    private func endBatch() {
        let calls = shared.withLock { shared in
            defer { shared.callsAfterBatch = [] }
            return shared.callsAfterBatch
        }
        for call in calls { call() }
    }

    /// Resumes the Dispatch sources. If the peer has hung up, also reports this again.
    ///
    /// After a hang-up, Dispatch stops watching the descriptor. So without the second report, a new handler would get
    /// no report. The same is true for a handler that now waits for another event.
    private func renew(_ entry: Entry, _ fd: CInt, _ interest: Readiness) {
        guard !entry.isClosed else { return }
        arm(entry, fd, interest)
        let troubles = Readiness.troubles(of: fd)
        guard entry.edges == nil, troubles.contains(.hangUp) else { return }
        entry.handler.ready(for: interest.union(troubles))
        endBatch()
    }

    private func arm(_ entry: Entry, _ fd: CInt, _ interest: Readiness) {
        guard !entry.isClosed else { return }
        entry.interest = interest.intersection([.readable, .peerClosed])
        if interest.contains(.readable), entry.read == nil {
            if Socket.isDatagram(fd) { entry.edges = try? EdgeWatch(fd, entry.interest) }
            entry.read = makeReadSource(entry, fd)
        } else if entry.edges != nil {
            entry.edges?.renew(fd, entry.interest)
        }
        if interest.contains(.writable), entry.write == nil { entry.write = makeWriteSource(entry, fd) }
        if interest.contains(.readable), !entry.isReadArmed, let source = entry.read {
            entry.isReadArmed = true
            source.activateOrResume()
        }
        if interest.contains(.writable), !entry.isWriteArmed, let source = entry.write {
            entry.isWriteArmed = true
            source.activateOrResume()
        }
    }

    private func makeReadSource(_ entry: Entry, _ fd: CInt) -> any DispatchSourceRead {
        let source = DispatchSource.makeReadSource(fileDescriptor: entry.edges?.descriptor ?? fd, queue: queue)
        source.setEventHandler { [unowned self, unowned entry] in
            guard !entry.isClosed else { return }
            // An edge-triggered epoll set reports each edge only once. So the source need not be suspended after a
            // report.
            if let readiness = entry.edges?.fetch() {
                if !readiness.isEmpty { entry.handler.ready(for: readiness) }
            } else {
                entry.isReadArmed = false
                entry.read?.suspend()
                // A Dispatch source reports only that the descriptor is readable. It does not report that the peer has
                // closed its side. If data and the end of the stream arrive together, there is only one report.
                //
                // So if a handler wants to know the end, each report says that the end may have arrived. The handler
                // then reads until no data is left.
                //
                // A source does not report errors of the descriptor either, so they are added here.
                entry.handler.ready(for: entry.interest.union(.troubles(of: fd)))
            }
            self.endBatch()
        }
        return source
    }

    private func makeWriteSource(_ entry: Entry, _ fd: CInt) -> any DispatchSourceWrite {
        let source = DispatchSource.makeWriteSource(fileDescriptor: fd, queue: queue)
        source.setEventHandler { [unowned self, unowned entry] in
            guard !entry.isClosed else { return }
            entry.isWriteArmed = false
            entry.write?.suspend()
            entry.handler.ready(for: Readiness.writable.union(.troubles(of: fd)))
            self.endBatch()
        }
        return source
    }
}

extension DispatchSourceProtocol {
    /// Starts a new source, or resumes a suspended source. One `resume()` call is enough in both cases, because a new
    /// source also has a suspend count of one.
    fileprivate func activateOrResume() { resume() }
}
