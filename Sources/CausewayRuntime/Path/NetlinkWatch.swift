import CausewaySystem

/// Monitors the kernel's network state with a routing socket.
final class NetlinkWatch: NetworkChangeMonitor.Watch, ReadinessHandler {
    private struct Feed: ~Copyable {
        var socket: NetlinkSocket
        var registration: Registration

        borrowing func renew(on loop: any EventLoop) {
            loop.update(registration, socket.rawValue, for: .readable)
        }
    }

    private let loop: any EventLoop
    private let report: @Sendable (NetworkChangeMonitor.Report) -> Void
    /// The watch's socket and the socket's registration. `nil` after the watch was cancelled.
    private let feed = LockedValue<Feed?>(nil)

    /// Starts the watch. Every change after this initializer has returned is reported on the loop.
    init(
        on loop: any EventLoop, report: @escaping @Sendable (NetworkChangeMonitor.Report) -> Void
    ) throws(SystemError) {
        self.loop = loop
        self.report = report
        // Hold the lock of `feed` here. Otherwise the loop's thread could report the first change before `feed`
        // contains the socket, and the change would be lost.
        try feed.withLock { feed throws(SystemError) in
            let socket = try NetlinkSocket(groups: .all, blocking: false)
            let registration = try loop.register(socket.rawValue, for: .readable, self)
            feed = Feed(socket: socket, registration: registration)
        }
    }

    func ready(for readiness: Readiness) {
        let word = feed.withLock { feed -> NetworkChangeMonitor.Report? in
            do {
                guard let hasChanged = try feed?.socket.drainChanges() else { return nil }
                // `drainChanges()` reads only a limited number of changes. Register again, so that the loop reports the
                // remaining ones.
                feed?.renew(on: loop)
                return hasChanged ? .changed : nil
            } catch {
                return .failed
            }
        }
        if let word { report(word) }
    }

    func cancel() {
        feed.withLock { feed in
            guard let feed = feed.take() else { return }
            loop.close(feed.registration, feed.socket.release())
        }
    }
}

extension NetworkChangeMonitor.Dependencies {
    /// Monitors the kernel's network changes on an event loop that serves no connections.
    package static var live: Self {
        Self(
            follow: { report in try? NetlinkWatch(on: Engine.networkLoop, report: report) },
            after: { delay, body in _ = Engine.networkLoop.schedule(after: delay, body) })
    }
}
