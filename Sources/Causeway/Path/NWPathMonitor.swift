internal import CausewaySystem
public import CausewayTypes
public import Dispatch

/// Tells what the way to the network at large is, and each time that it changes.
///
/// ```swift
/// let monitor = NWPathMonitor()
/// monitor.pathUpdateHandler = { path in print(path) }
/// monitor.start(queue: .global())
/// ```
///
/// A started monitor lives until it is cancelled.
///
/// Counterpart: macOS 10.14, iOS 12.
public final class NWPathMonitor: CustomDebugStringConvertible, Sendable {
    private let watch: PathWatch
    private let lifecycle = QueuedState(NWPath(status: .unsatisfied))

    /// Makes a monitor of all interfaces but loopback.
    public convenience init() { self.init(.any) }

    /// Makes a monitor of the interfaces of one type.
    public convenience init(requiredInterfaceType: NWInterface.InterfaceType) {
        self.init(.only(requiredInterfaceType))
    }

    /// Makes a monitor of all interfaces but loopback and those of some types.
    ///
    /// Counterpart: macOS 11, iOS 14.
    public convenience init(prohibitedInterfaceTypes: [NWInterface.InterfaceType]) {
        self.init(.excluding(prohibitedInterfaceTypes))
    }

    /// A new monitor of the interfaces that carry Ethernet frames, whether or not a route leads over them.
    ///
    /// Counterpart: macOS 13.
    public static var ethernetChannel: NWPathMonitor { NWPathMonitor(.ethernet) }

    private init(_ policy: PathPolicy) {
        watch = PathWatch(policy)
    }

    /// The path as of the last look. Before the monitor is started it is unsatisfied.
    public var currentPath: NWPath {
        get { watch.path }
        @available(*, deprecated, message: "The monitor sets it")
        set { watch.path = newValue }
    }

    /// Called with the path soon after ``start(queue:)``, and at each change.
    @preconcurrency public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)? {
        get { lifecycle.handler }
        set { lifecycle.handler = newValue }
    }

    /// Begins to watch. `queue` takes every callback from now on. Only the first call counts.
    public func start(queue: DispatchQueue) {
        guard lifecycle.start(on: queue) else { return }
        watch.listen { [lifecycle] path in lifecycle.move(to: path) }
        // Cancelled meanwhile, there was no watch to stop.
        if lifecycle.hasEnded { watch.stop() }
    }

    /// Ends watching. A callback that is under way may finish later; no other one follows it.
    public func cancel() {
        lifecycle.abandon()
        watch.stop()
    }

    /// The queue given to ``start(queue:)``; `nil` before.
    public var queue: DispatchQueue? { lifecycle.queue }

    /// The current path.
    ///
    /// Counterpart: macOS 14, iOS 17.
    public var debugDescription: String { "[path monitor, \(currentPath.debugDescription)]" }
}

extension NWPathMonitor: AsyncSequence {
    /// A path.
    ///
    /// Counterpart: macOS 14, iOS 17.
    public typealias Element = NWPath
    /// Goes over the paths.
    ///
    /// Counterpart: macOS 14, iOS 17.
    public typealias AsyncIterator = NWPathMonitor.Iterator

    /// The path that is there, and each one that replaces it. To iterate starts the watch; no queue is needed.
    ///
    /// A reader that is slow finds the latest path, not those that it has missed.
    ///
    /// Counterpart: macOS 14, iOS 17.
    public __consuming func makeAsyncIterator() -> NWPathMonitor.Iterator {
        let (paths, feed) = AsyncStream.makeStream(of: NWPath.self, bufferingPolicy: .bufferingNewest(1))
        guard !lifecycle.hasEnded else {
            feed.finish()
            return Iterator(paths: paths.makeAsyncIterator())
        }
        let end = FeedEnd(feed)
        let id = watch.listen { path in end.feed.yield(path) }
        feed.onTermination = { [watch] _ in watch.forget(id) }
        return Iterator(paths: paths.makeAsyncIterator())
    }

    /// Goes over the paths of a monitor.
    ///
    /// Counterpart: macOS 14, iOS 17.
    public struct Iterator: AsyncIteratorProtocol {
        /// A path.
        public typealias Element = NWPathMonitor.Element

        fileprivate var paths: AsyncStream<NWPath>.Iterator

        /// Waits for the next path. `nil` when the monitor or the task has been cancelled.
        public mutating func next() async -> NWPathMonitor.Element? { await paths.next() }
    }
}

@available(*, unavailable)
extension NWPathMonitor.Iterator: Sendable {}

/// Ends a stream when the watch lets go of the listener that fed it.
private final class FeedEnd: Sendable {
    let feed: AsyncStream<NWPath>.Continuation

    init(_ feed: AsyncStream<NWPath>.Continuation) {
        self.feed = feed
    }

    deinit { feed.finish() }
}
