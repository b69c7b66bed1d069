import Causeway
import Foundation
import Testing

@testable import CausewayPeers
@testable import MultipeerConnectivity

extension Loopback {
    @Suite("MultipeerConnectivity: resources and streams")
    struct MultipeerTransferTests {
        private func withFile(_ byteCount: Int, _ body: (URL) async throws -> Void) async throws {
            let place = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).bin")
            defer { try? FileManager.default.removeItem(at: place) }
            try Data(repeating: 7, count: byteCount).write(to: place)
            try await body(place)
        }

        @Test("A resource arrives whole, with progress on both sides and in the sender's tree")
        func resource() async throws {
            let (ann, bob) = try await SessionProbe.pair()
            try await withFile(4 << 20) { url in
                let ends = Mailbox<MCError.Code?>()
                let whole = Progress(totalUnitCount: 1)
                let progress = try #require(Self.send(url, ann, bob, in: whole) { ends.put($0) })
                #expect(try await ends.next() == nil)
                #expect(progress.fractionCompleted == 1 && whole.fractionCompleted == 1)
                #expect(
                    try await bob.seen.first { if case .starts = $0 { true } else { false } }
                        == .starts("photo.jpg", from: "Ann"))
                #expect(try await bob.seen.next() == .finishes("photo.jpg", byteCount: 4 << 20, nil, from: "Ann"))
                #expect(try await bob.transfers.next().fractionCompleted == 1)
            }
            for peer in [ann, bob] { peer.close() }
        }

        /// Sends a file while `whole` is the current progress object, so that the transfer's progress becomes a child
        /// of `whole`. This method is not asynchronous, because the current progress object belongs to the thread.
        private static func send(
            _ url: URL, _ from: SessionProbe, _ to: SessionProbe, in whole: Progress,
            _ completion: @escaping @Sendable (MCError.Code?) -> Void
        ) -> Progress? {
            whole.becomeCurrent(withPendingUnitCount: 1)
            defer { whole.resignCurrent() }
            return from.session.sendResource(at: url, withName: "photo.jpg", toPeer: to.peer) { error in
                completion((error as! MCError?)?.code)
            }
        }

        @Test("Either side cancels a resource, and both learn it", arguments: [true, false])
        func cancels(_ senderCancels: Bool) async throws {
            let (ann, bob) = try await SessionProbe.pair()
            try await withFile(64 << 20) { url in
                // Stop the reads of the sender, so that the file does not arrive whole before it is cancelled.
                let engine = try ann.session.core.connection(to: bob.me).engine
                let reads = try #require(engine as? PeerGroup).port.files.queue
                reads.suspend()
                defer { reads.resume() }
                let ends = Mailbox<MCError.Code?>()
                let sent = ann.session.sendResource(at: url, withName: "big", toPeer: bob.peer) { error in
                    ends.put((error as! MCError?)?.code)
                }
                let received = try await bob.transfers.next()
                if senderCancels { sent?.cancel() } else { received.cancel() }
                #expect(try await ends.next() == .cancelled)
                try await bob.seen.first { $0 == .finishes("big", byteCount: nil, .cancelled, from: "Ann") }
            }
            for peer in [ann, bob] { peer.close() }
        }

        @Test("A stream in each direction carries more than its window, and its end")
        func streams() async throws {
            let (ann, bob) = try await SessionProbe.pair()
            for (from, to, name) in [(ann, bob, "Ann"), (bob, ann, "Bob")] {
                let output = Unchecked(try from.session.startStream(withName: "log", toPeer: to.peer))
                #expect(
                    try await to.seen.first { if case .stream = $0 { true } else { false } }
                        == .stream("log", from: name))
                let input = try await to.streams.next()
                let sums = Mailbox<[Int]>()
                Self.write(1 << 20, to: output)
                Self.read(input, sums)
                #expect(try await sums.next() == [1 << 20, (0..<(1 << 20)).reduce(0) { $0 &+ ($1 & 0xFF) }])
            }
            for peer in [ann, bob] { peer.close() }
        }

        @Test("The loss of the peer is an error of its streams, and comes before notConnected")
        func loss() async throws {
            let (ann, bob) = try await SessionProbe.pair()
            let output = try ann.session.startStream(withName: "log", toPeer: bob.peer)
            let input = try await bob.streams.next()
            for stream in [output, input.value] as [Stream] { stream.open() }
            bob.session.disconnect()
            try await ann.waitFor("Bob", .notConnected)
            #expect(output.streamStatus == .error && output.streamError != nil)
            for peer in [ann, bob] { peer.close() }
        }

        /// Writes to the stream on a separate thread with a run loop, as programs do.
        private static func write(_ count: Int, to output: Unchecked<OutputStream>) {
            let thread = Thread {
                let writer = Writer(count)
                output.value.delegate = writer
                output.value.schedule(in: .current, forMode: .default)
                output.value.open()
                while !writer.hasEnded, RunLoop.current.run(mode: .default, before: .distantFuture) {}
            }
            thread.start()
        }

        private static func read(_ input: Unchecked<InputStream>, _ sums: Mailbox<[Int]>) {
            let thread = Thread {
                let reader = Reader()
                input.value.delegate = reader
                input.value.schedule(in: .current, forMode: .default)
                input.value.open()
                while !reader.hasEnded, RunLoop.current.run(mode: .default, before: .distantFuture) {}
                sums.put([reader.count, reader.sum])
            }
            thread.start()
        }
    }
}

/// Writes bytes that count up, and closes the stream.
private final class Writer: NSObject, StreamDelegate {
    private var remaining: [UInt8]
    private(set) var hasEnded = false

    init(_ count: Int) { remaining = (0..<count).map { UInt8(truncatingIfNeeded: $0) } }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        guard let output = aStream as? OutputStream else { return }
        if eventCode == .hasSpaceAvailable, !remaining.isEmpty {
            let count = output.write(remaining, maxLength: min(remaining.count, 50_000))
            if count > 0 { remaining.removeFirst(count) }
        }
        guard remaining.isEmpty || eventCode == .errorOccurred else { return }
        output.close()
        hasEnded = true
    }
}

/// Computes the sum of all bytes of a stream.
private final class Reader: NSObject, StreamDelegate {
    private(set) var count = 0
    private(set) var sum = 0
    private(set) var hasEnded = false

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        guard let input = aStream as? InputStream else { return }
        if eventCode == .hasBytesAvailable {
            var buffer = [UInt8](repeating: 0, count: 30_000)
            let read = input.read(&buffer, maxLength: buffer.count)
            for byte in buffer.prefix(max(0, read)) { sum &+= Int(byte) }
            count += max(0, read)
        }
        if eventCode == .endEncountered || eventCode == .errorOccurred {
            hasEnded = true
            input.close()
        }
    }
}
