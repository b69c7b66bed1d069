public import CausewayPackets
internal import CausewaySystem
internal import Synchronization

/// A packet with its bytes.
public struct CapturedFrame: Hashable, Sendable {
    /// The packet's time, lengths and link type.
    public var packet: CapturedPacket
    /// The captured bytes.
    public var bytes: [UInt8]

    /// Creates a frame.
    public init(packet: CapturedPacket, bytes: [UInt8]) {
        self.packet = packet
        self.bytes = bytes
    }
}

/// An asynchronous sequence of captured packets.
///
/// ```swift
/// let frames = PacketFrames(CaptureOptions(interface: "eth0"))
/// for try await frame in frames { print(frame.bytes.count) }
/// ```
///
/// A `for` loop starts a capture, which ends with the loop or when the loop's task is cancelled. Each loop has its own
/// thread and ring. If the reader is too slow, packets are dropped and counted in ``statistics``, so memory is bounded.
/// The loop throws ``CaptureError``.
public struct PacketFrames: AsyncSequence, Sendable {
    /// The type of the elements.
    public typealias Element = CapturedFrame

    private let options: CaptureOptions
    private let unread: Int
    private let shared = Shared()

    private final class Shared: Sendable {
        let statistics = Mutex(CaptureStatistics())
    }

    /// Creates a sequence. Each loop over the sequence starts a capture.
    ///
    /// - Parameters:
    ///   - options: The options for each loop's capture.
    ///   - unread: Maximum number of packets that wait for the reader; at least 1.
    public init(_ options: CaptureOptions, unread: Int = 8192) {
        self.options = options
        self.unread = Swift.max(unread, 1)
    }

    /// The latest loop's statistics, at most about 50 ms old.
    public var statistics: CaptureStatistics { shared.statistics.withLock { $0 } }

    /// A loop's iterator.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var frames: AsyncThrowingStream<CapturedFrame, any Error>.Iterator

        /// Returns the next frame, and waits for one if necessary.
        ///
        /// - Throws: ``CaptureError``.
        ///
        /// Cancellation: ends the capture; returns `nil`.
        public mutating func next() async throws -> CapturedFrame? { try await frames.next() }

        /// Returns the next frame like ``next()``, in the caller's isolation.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> CapturedFrame? {
            try await frames.next(isolation: actor)
        }
    }

    /// Starts a capture on a separate thread, and returns an iterator over its packets.
    public func makeAsyncIterator() -> AsyncIterator {
        let (stream, feed) = AsyncThrowingStream<CapturedFrame, any Error>.makeStream(
            bufferingPolicy: .bufferingOldest(unread))
        let isOver = Flag()
        feed.onTermination = { _ in isOver.value.store(true, ordering: .relaxed) }
        let (options, shared) = (options, shared)
        do {
            try System.startThread(named: "nw.capture") {
                do {
                    try Self.feed(feed, options, shared, isOver)
                    feed.finish()
                } catch { feed.finish(throwing: error) }
            }
        } catch { feed.finish(throwing: CaptureError("cannot start the capture thread", error)) }
        return AsyncIterator(frames: stream.makeAsyncIterator())
    }

    private final class Flag: Sendable {
        let value = Atomic(false)
    }

    private static func feed(
        _ feed: AsyncThrowingStream<CapturedFrame, any Error>.Continuation, _ options: CaptureOptions,
        _ shared: Shared, _ isOver: Flag
    ) throws {
        var capture = try PacketCapture(options)
        var unread: UInt64 = 0
        while !isOver.value.load(ordering: .relaxed) {
            // Wait for at most 50 ms, so that the thread soon detects that the loop has ended.
            _ = try capture.take(waitingMilliseconds: 50) { packet, bytes in
                let frame = CapturedFrame(packet: packet, bytes: bytes.array)
                if case .dropped = feed.yield(frame) { unread += 1 }
                return !isOver.value.load(ordering: .relaxed)
            }
            var statistics = capture.statistics()
            statistics.droppedUnread = unread
            shared.statistics.withLock { $0 = statistics }
        }
    }
}
