import Foundation
import Synchronization
import Testing

@testable import CausewayPeers

extension Loopback {
    @Suite("Peers: files and streams")
    struct PeerTransferTests {
        /// Calls `body` with a temporary file. The file's contents repeat every 65,521 bytes. This number is not a
        /// power of two.
        private func withFile(_ byteCount: Int, _ body: (URL, Data) async throws -> Void) async throws {
            let place = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).bin")
            defer { try? FileManager.default.removeItem(at: place) }
            let block = Data((0..<65_521).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            var contents = Data(capacity: byteCount + block.count)
            while contents.count < byteCount { contents.append(block) }
            contents = contents.prefix(byteCount)
            try contents.write(to: place)
            try await body(place, contents)
        }

        /// Stops the reads of the files that a peer sends, so that no file arrives whole before the test ends its
        /// transfer. The caller must resume the queue.
        private func stopReads(of sender: PeerProbe) throws -> DispatchQueue {
            let files = try #require(sender.group).port.files.queue
            files.suspend()
            return files
        }

        @Test("A file of 32 MiB arrives whole, with progress on both sides, and messages pass it")
        func file() async throws {
            let (ann, bob) = (try PeerProbe("Ann"), try PeerProbe("Bob", keepsContents: true))
            try await ann.meet(bob)
            ann.invite(bob)
            try await ann.seen.first { $0 == .connected("Bob") }
            try await withFile(32 << 20) { url, contents in
                let ends = Mailbox<PeerFailure?>()
                let progress = try ann.sendFile(url, name: "../b\u{7}ig.bin", to: bob, ends)
                try ann.send("beside", to: bob)
                try await bob.seen.first { $0 == .message("beside", from: "Ann") }
                #expect(try await ends.next() == nil)
                #expect(progress.completedUnitCount == 32 << 20 && progress.totalUnitCount == 32 << 20)
                #expect(bob.seen.history.contains(.fileStarted("big.bin", from: "Ann")))
                try await bob.seen.first { $0 == .file("big.bin", byteCount: 32 << 20, from: "Ann") }
                #expect(try await bob.digests.next() == contents)
                #expect(try await bob.transfers.next().completedUnitCount == 32 << 20)
            }
            ann.close()
            bob.close()
        }

        @Test("Either side cancels: both get one event, and nothing is left behind", arguments: [true, false])
        func cancels(_ senderCancels: Bool) async throws {
            let (ann, bob) = try await PeerProbe.pair()
            try await withFile(64 << 20) { url, _ in
                let reads = try stopReads(of: ann)
                defer { reads.resume() }
                let ends = Mailbox<PeerFailure?>()
                let progress = try ann.sendFile(url, name: "big", to: bob, ends)
                let incoming = try await bob.transfers.next()
                if senderCancels { progress.cancel() } else { incoming.cancel() }
                #expect(try await ends.next() == PeerFailure(.cancelled))
                let last = try await bob.seen.first { if case .fileFailed = $0 { true } else { false } }
                #expect(last == .fileFailed("big", PeerFailure(.cancelled), from: "Ann"))
                // The cancelled transfer must not affect the link. So another message still arrives.
                try ann.send("after", to: bob)
                try await bob.seen.first { $0 == .message("after", from: "Ann") }
                #expect(ends.history.count == 1)
            }
            ann.close()
            bob.close()
        }

        @Test("A file whose sender leaves fails before the sender is gone; a missing file fails at once")
        func leaves() async throws {
            let (ann, bob) = try await PeerProbe.pair()
            let ends = Mailbox<PeerFailure?>()
            _ = try ann.sendFile(URL(fileURLWithPath: "/nonexistent"), name: "x", to: bob, ends)
            #expect(try await ends.next() == PeerFailure(.invalid))
            try await withFile(64 << 20) { url, _ in
                let reads = try stopReads(of: ann)
                defer { reads.resume() }
                _ = try ann.sendFile(url, name: "big", to: bob, ends)
                _ = try await bob.transfers.next()
                ann.group?.leave()
                #expect(try await ends.next() != nil)
                let last = try await bob.seen.first {
                    switch $0 {
                    case .fileFailed, .notConnected: true
                    default: false
                    }
                }
                if case .fileFailed = last {} else { Issue.record("\(last)") }
                try await bob.seen.first { $0 == .notConnected("Ann", PeerFailure(.left)) }
            }
            ann.close()
            bob.close()
        }

        @Test("A stream carries 4 MiB in order while its reader is slower, and ends; a reset is an error")
        func stream() async throws {
            let (ann, bob) = try await PeerProbe.pair()
            let writer = try #require(try ann.group?.openStream("log", to: bob.me))
            let room = Mailbox<Bool>()
            writer.onChange { _ in room.put(true) }
            let events = Mailbox<Data?>()
            let reader = try await bob.streams.next()
            reader.start { event in
                switch event {
                case .data(let data): events.put(data)
                case .ended, .failed: events.put(nil)
                }
            }
            let contents = Data((0..<(4 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 12) })
            let reading = Task {
                var received = Data()
                while let data = try await events.next() {
                    received.append(data)
                    reader.consumed(data.count)
                }
                return received
            }
            var rest = contents[...]
            while !rest.isEmpty {
                let count = try writer.write(Data(rest.prefix(100_000)))
                rest = rest.dropFirst(count)
                if count < min(100_000, rest.count + count) { _ = try await room.next() }
            }
            writer.close()
            #expect(try await reading.value == contents)
            let second = try #require(try ann.group?.openStream("log", to: bob.me))
            let other = try await bob.streams.next()
            let failed = Mailbox<Bool>()
            other.start { event in if case .failed = event { failed.put(true) } }
            _ = try second.write(Data("x".utf8))
            second.reset()
            _ = try await failed.next()
            ann.close()
            bob.close()
        }
    }
}
