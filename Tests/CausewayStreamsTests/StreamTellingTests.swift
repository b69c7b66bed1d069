import Foundation
import Testing

@testable import CausewayStreams

@Suite("Event delivery to delegates")
struct StreamTellingTests {
    /// A stream delegate that adds its events to a sequence.
    private final class Listener: NSObject, StreamDelegate {
        let events: AsyncStream<Stream.Event>
        private let feed: AsyncStream<Stream.Event>.Continuation

        override init() { (events, feed) = AsyncStream.makeStream() }

        func stream(_ stream: Stream, handle event: Stream.Event) { feed.yield(event) }
    }

    @Test("A stream opened after its link has failed reports the failure")
    func lateOpening() async {
        let pipe = BytePipe(capacity: 16)
        let stream = PipedInputStream(StreamCore(.input, pipe, SilentLink()))
        let listener = Listener()
        stream.delegate = listener
        let queue = DispatchQueue(label: "telling")
        stream.core.schedule(on: queue)
        pipe.fail(.posix(.ECONNREFUSED))
        // Wait until the queue has run all blocks that were added before.
        await withCheckedContinuation { told in queue.async { told.resume() } }
        stream.open()
        #expect(await listener.events.first { _ in true } == .errorOccurred)
        #expect(stream.streamStatus == .error)
    }

    @Test("A reader that reads only on events misses nothing, with any timing of reads and arrivals")
    func reader() async {
        let count = 20_000
        let pipe = BytePipe(capacity: 1)
        let stream = PipedInputStream(StreamCore(.input, pipe, BoundLink(pipe: pipe)))
        let listener = Listener()
        stream.delegate = listener
        stream.core.schedule(on: DispatchQueue(label: "telling"))
        stream.open()
        DispatchQueue(label: "writing").async {
            var byte: UInt8 = 1
            for _ in 0..<count {
                pipe.wait { pipe.room > 0 }
                _ = withUnsafeBytes(of: &byte) { pipe.write($0) }
            }
            pipe.finish()
        }
        var received = 0
        var block = [UInt8](repeating: 0, count: 1)
        for await event in listener.events {
            guard event != .endEncountered else { break }
            while stream.hasBytesAvailable { received += stream.read(&block, maxLength: block.count) }
        }
        #expect(received == count)
    }

    @Test("A stream may be released while it looks for an event to report")
    func released() async {
        let listener = Listener()
        let (telling, changing) = (DispatchQueue(label: "telling"), DispatchQueue(label: "changing"))
        var streams: [WeakStream] = []
        for round in 0..<6_000 {
            let pipe = BytePipe(capacity: 16)
            let stream = PipedInputStream(StreamCore(.input, pipe, SilentLink()))
            streams.append(WeakStream(stream: stream))
            stream.delegate = listener
            stream.core.schedule(on: telling)
            stream.open()
            changing.async { for _ in 0..<300 { pipe.changed() } }
            while stream.streamStatus != .open { stream.core.opened() }
            for _ in 0..<(round % 300) { _ = stream.streamStatus }
        }
        await withCheckedContinuation { changed in changing.async { changed.resume() } }
        await withCheckedContinuation { told in telling.async { told.resume() } }
        #expect(streams.allSatisfy { $0.stream == nil })
    }
}

private struct WeakStream {
    weak var stream: PipedInputStream?
}

/// A link for tests. Its methods do nothing.
private struct SilentLink: StreamLink {
    func open(_ core: StreamCore) {}
    func closed(_ direction: StreamCore.Direction) {}
    func whenEnded(_ body: @escaping @Sendable () -> Void) { body() }
    func property(_ key: Stream.PropertyKey) -> AnyObject? { nil }
    func setProperty(_ value: AnyObject?, _ key: Stream.PropertyKey) -> Bool { false }
}
