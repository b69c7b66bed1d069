internal import CausewaySystem
public import CausewayTypes
public import Dispatch

/// Reports the default path to the network, independent of any destination, and reports each change of this path.
///
/// ```swift
/// let monitor = NWPathMonitor()
/// monitor.pathUpdateHandler = { path in print(path) }
/// monitor.start(queue: .global())
/// ```
///
/// A started monitor stays alive until it is cancelled. It can be used from any thread.
///
/// Counterpart: macOS 10.14, iOS 12.
public final class NWPathMonitor: CustomDebugStringConvertible, Sendable {
    private let watch: PathWatch
    private let lifecycle = QueuedState(NWPath(status: .unsatisfied))

    /// Creates a monitor for all interfaces except loopback.
    public convenience init() { self.init(.any) }

    /// Creates a monitor for one interface type.
    public convenience init(requiredInterfaceType: NWInterface.InterfaceType) {
        self.init(.only(requiredInterfaceType))
    }

    /// Creates a monitor for all interfaces except loopback and the given types.
    ///
    /// Counterpart: macOS 11, iOS 14.
    public convenience init(prohibitedInterfaceTypes: [NWInterface.InterfaceType]) {
        self.init(.excluding(prohibitedInterfaceTypes))
    }

    /// Creates a monitor for wired Ethernet and Wi-Fi interfaces, with or without a route.
    ///
    /// Counterpart: macOS 13.
    public static var ethernetChannel: NWPathMonitor { NWPathMonitor(.ethernet) }

    private init(_ policy: PathPolicy) {
        watch = PathWatch(policy)
    }

    /// The latest path. It is unsatisfied until the monitor is started.
    ///
    /// The setter is deprecated. A value that the program sets lasts until the next update.
    public var currentPath: NWPath {
        get { watch.path }
        @available(*, deprecated, message: "The monitor sets it")
        set { watch.path = newValue }
    }

    /// Called on the queue with the current path soon after ``start(queue:)``, and then each time the path changes. Set it before
    /// ``start(queue:)``.
    @preconcurrency public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)? {
        get { lifecycle.handler }
        set { lifecycle.handler = newValue }
    }

    /// Starts the monitor. All callbacks run on `queue`. Later calls have no effect.
    public func start(queue: DispatchQueue) {
        guard lifecycle.start(on: queue) else { return }
        watch.listen { [lifecycle] path in lifecycle.move(to: path) }
    }

    /// Stops the monitor. A callback that is already running finishes; no other callback is made.
    public func cancel() {
        lifecycle.abandon()
        watch.stop()
    }

    /// The queue passed to ``start(queue:)``; `nil` before the start.
    public var queue: DispatchQueue? { lifecycle.queue }

    /// The current path as text.
    ///
    /// Counterpart: macOS 14, iOS 17.
    public var debugDescription: String { "[path monitor, \(currentPath.debugDescription)]" }
}

extension NWPathMonitor: AsyncSequence {
    /// The element type: a path.
    ///
    /// Counterpart: macOS 14, iOS 17.
    public typealias Element = NWPath
    /// The iterator type.
    ///
    /// Counterpart: macOS 14, iOS 17.
    public typealias AsyncIterator = NWPathMonitor.Iterator

    /// Returns an iterator over the current path and each later path. Iteration starts the monitor; no queue is needed.
    ///
    /// A slow reader gets only the latest path and misses earlier changes.
    ///
    /// Counterpart: macOS 14, iOS 17.
    public __consuming func makeAsyncIterator() -> NWPathMonitor.Iterator {
        let (paths, feed) = AsyncStream.makeStream(of: NWPath.self, bufferingPolicy: .bufferingNewest(1))
        let end = FeedEnd(feed)
        // If the monitor was already cancelled, `watch` does not store the listener closure. So the closure is
        // released, and `end` with it. The release of `end` ends the stream.
        if let id = watch.listen({ path in end.feed.yield(path) }) {
            feed.onTermination = { [watch] _ in watch.forget(id) }
        }
        return Iterator(paths: paths.makeAsyncIterator())
    }

    /// Iterates over a monitor's paths.
    ///
    /// Counterpart: macOS 14, iOS 17.
    public struct Iterator: AsyncIteratorProtocol {
        /// The type of the elements: a network path.
        public typealias Element = NWPathMonitor.Element

        fileprivate var paths: AsyncStream<NWPath>.Iterator

        /// Returns the current path at the first call. Each later call waits until the path changes, and returns the new path. Returns
        /// `nil` after the monitor has been cancelled.
        ///
        /// Cancellation: this call and all later calls return `nil`. Other iterators of the monitor are not affected.
        public mutating func next() async -> NWPathMonitor.Element? { await paths.next() }

        /// Returns the next path like ``next()``, in the caller's isolation.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> NWPathMonitor.Element? {
            await paths.next(isolation: actor)
        }
    }
}

@available(*, unavailable)
extension NWPathMonitor.Iterator: Sendable {}

/// Ends one iterator's stream when this object is released.
///
/// Only the iterator's listener closure keeps this object. So the stream ends when the path monitor releases the
/// closure.
private final class FeedEnd: Sendable {
    let feed: AsyncStream<NWPath>.Continuation

    init(_ feed: AsyncStream<NWPath>.Continuation) {
        self.feed = feed
    }

    deinit { feed.finish() }
}
