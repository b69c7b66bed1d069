import CausewaySystem
import Dispatch

/// Follows the kernel's network state on a routing socket, by a dispatch source: a rare event, so a thread hop per
/// event costs nothing that matters, and a process that watches needs no event loop for it.
final class NetlinkWatch: NetworkChangeMonitor.Watch {
    /// Owns the socket for as long as the source may touch it.
    private final class Feed: Sendable {
        let socket: NetlinkSocket

        init() throws(SystemError) {
            socket = try NetlinkSocket(groups: .all, blocking: false)
        }
    }

    // SAFETY: libdispatch objects may be used from any thread, and after `init` only `cancel()` touches this one.
    // The namespace test of the monitor cancels while events arrive.
    private nonisolated(unsafe) let source: any DispatchSourceRead

    init(
        queue: DispatchQueue, report: @escaping @Sendable (NetworkChangeMonitor.Report) -> Void
    ) throws(SystemError) {
        let feed = try Feed()
        source = DispatchSource.makeReadSource(fileDescriptor: feed.socket.rawValue, queue: queue)
        source.setEventHandler {
            do {
                if try feed.socket.drainChanges() { report(.changed) }
            } catch {
                report(.failed)
            }
        }
        // The handler exists to keep the feed: the descriptor must stay open until the source has let go of it.
        source.setCancelHandler { withExtendedLifetime(feed) {} }
        source.resume()
    }

    func cancel() {
        source.cancel()
    }
}

extension NetworkChangeMonitor.Surroundings {
    /// The kernel, and a private serial queue on the global pool's threads.
    package static var live: Self {
        let queue = DispatchQueue(label: "causeway.network-changes", target: .global())
        return Self(
            follow: { report in try? NetlinkWatch(queue: queue, report: report) },
            after: { delay, body in
                let (seconds, attoseconds) = delay.components
                let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
                queue.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds), execute: body)
            })
    }
}
