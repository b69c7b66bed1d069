import Causeway
import CausewaySystem
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("Datagrams as a sequence")
    struct DatagramMessagesTests {
        /// Sends datagrams to a peer. The peer sends all of them back after the last one has arrived. `body` reads the
        /// replies.
        private static func withAnswers(
            _ sizes: [Int], _ body: @escaping @Sendable (NetworkConnection<UDP>) async throws -> Void
        ) async throws {
            try await Hall.open(.parameters { UDP() }) { connection in
                var received: [Data] = []
                for try await (content, _) in connection.messages {
                    received.append(content)
                    if received.count == sizes.count { break }
                }
                for content in received { try await connection.send(content) }
                // Keep the connection open until the test ends.
                _ = try? await connection.receive()
            } _: { endpoint in
                let connection = NetworkConnection(to: endpoint) { UDP() }
                for (index, size) in sizes.enumerated() { try await connection.send(Data.pattern(size, from: index)) }
                try await body(connection)
            }
        }

        @Test("Each datagram is one element, in order, also an empty one")
        func order() async throws {
            let sizes = (0..<60).map { $0 % 7 == 0 ? 0 : 300 + $0 % 3 }
            try await Self.withAnswers(sizes) { connection in
                var found: [Data] = []
                for try await (content, _) in connection.messages {
                    found.append(content)
                    if found.count == sizes.count { break }
                }
                #expect(found == sizes.enumerated().map { .pattern($1, from: $0) })
            }
        }

        @Test("An iterator that is abandoned loses no datagram: the next iterator or receive gets it")
        func abandoned() async throws {
            try await Self.withAnswers([1, 2, 3, 4]) { connection in
                for try await (content, _) in connection.messages {
                    #expect(content == .pattern(1, from: 0))
                    break
                }
                #expect(try await connection.receive().content == .pattern(2, from: 1))
                var iterator = connection.messages.makeAsyncIterator()
                let third = try await iterator.next()
                #expect(third?.content == .pattern(3, from: 2))
                let batch = try await connection.receiveBatch()
                #expect(Array(batch) == [.pattern(4, from: 3)])
            }
        }

        @Test("Cancellation throws ECANCELED and loses no datagram; the iterator has ended")
        func cancelled() async throws {
            try await Self.withAnswers([5]) { connection in
                let outcome = Task {
                    var iterator = connection.messages.makeAsyncIterator()
                    withUnsafeCurrentTask { $0?.cancel() }
                    do {
                        _ = try await iterator.next()
                        Issue.record("a cancelled task takes no datagram")
                    } catch {
                        #expect(error as? NWError == .posix(.ECANCELED))
                    }
                    return try await iterator.next() == nil
                }
                let hasEnded = try await outcome.value
                #expect(hasEnded)
                #expect(try await connection.receive().content == .pattern(5, from: 0))
            }
        }

        @Test("A waiting iterator ends with the error that its task's cancellation causes")
        func cancelledWhileWaiting() async throws {
            try await Self.withAnswers([6]) { connection in
                var iterator = connection.messages.makeAsyncIterator()
                let first = try await iterator.next()
                #expect(first?.content == .pattern(6, from: 0))
                let began = Mailbox<Void>()
                let waiting = Task {
                    began.put(())
                    for try await _ in connection.messages { Issue.record("no datagram can arrive") }
                }
                _ = try await began.next()
                waiting.cancel()
                await #expect(throws: NWError.posix(.ECANCELED)) { try await waiting.value }
            }
        }

        @Test("A receive of a batch ends with the error that its task's cancellation causes, and loses no datagram")
        func cancelledBatch() async throws {
            try await Self.withAnswers([6]) { connection in
                let before = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return try await connection.receiveBatch().count
                }
                await #expect(throws: NWError.posix(.ECANCELED)) { try await before.value }
                let batch = try await connection.receiveBatch()
                #expect(Array(batch) == [.pattern(6, from: 0)])
                let began = Mailbox<Void>()
                let waiting = Task {
                    began.put(())
                    return try await connection.receiveBatch().count
                }
                _ = try await began.next()
                waiting.cancel()
                await #expect(throws: NWError.posix(.ECANCELED)) { try await waiting.value }
            }
        }

        @Test("A datagram that a host refuses is an error of the sequence")
        func refused() async throws {
            let socket = try RawSocket.refusing(.udp4)
            let connection = NetworkConnection(to: Medium.udp4.endpoint(of: socket)) { UDP() }
            try await connection.send(Data("refused"))
            var iterator = connection.messages.makeAsyncIterator()
            do {
                _ = try await iterator.next()
                Issue.record("no datagram can arrive")
            } catch {
                #expect(error as? NWError == .posix(.ECONNREFUSED))
            }
            let last = try await iterator.next()
            #expect(last == nil)
            withExtendedLifetime(socket) {}
        }

        @Test("The metadata belong to the datagram")
        func metadata() async throws {
            try await Hall.open(.parameters { UDP() }) { connection in
                for try await (content, metadata) in connection.messages {
                    let marks = metadata.other.compactMap { ($0 as? NWProtocolIP.Metadata)?.ecn }
                    let name = marks == [.ce] ? "ce" : marks == [.nonECT] ? "none" : "other"
                    try await connection.send(content + Data(name.utf8))
                }
            } _: { endpoint in
                let connection = NetworkConnection(to: endpoint) { UDP() }
                for (index, ecn) in [NWProtocolIP.ECN.ce, .nonECT, .ce, .ect0].enumerated() {
                    let marking = NWProtocolIP.Metadata()
                    marking.ecn = ecn
                    try await connection.send(Data("\(index) ".utf8)) { marking }
                }
                var answers: [String] = []
                for try await (content, _) in connection.messages {
                    answers.append(String(decoding: content, as: UTF8.self))
                    if answers.count == 4 { break }
                }
                #expect(answers == ["0 ce", "1 none", "2 ce", "3 other"])
            }
        }

        @Test("A variable of Apple's type gets a stream of the same datagrams")
        func stream() async throws {
            try await Self.withAnswers([7, 8]) { connection in
                let stream: AsyncThrowingStream<UDP.Message<Data>, any Error> = connection.messages
                var found: [Data] = []
                for try await (content, _) in stream {
                    found.append(content)
                    if found.count == 2 { break }
                }
                #expect(found == [.pattern(7, from: 0), .pattern(8, from: 1)])
            }
        }
    }
}
