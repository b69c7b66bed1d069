import Causeway
import CausewaySystem
import Dispatch
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("Receiving from a stream")
    struct ReceiveTests {
        @Test("A receive returns at least the minimum and at most the maximum", arguments: Medium.streams)
        func minimumAndMaximum(medium: Medium) async throws {
            try await Pair.with(medium) { pair in
                let answers = pair.client.request(4, 6)
                try await pair.server.deliver(Data("abc"))
                #expect(await answers.take(within: Patience.silence) == nil)
                try await pair.server.deliver(Data("defgh"))
                let first = try await answers.next()
                #expect(first.text == "abcdef")
                #expect(!first.isComplete && !first.isFinal && first.error == nil && first.context != nil)
                #expect(try await pair.client.receive(1, 100).text == "gh")
            }
        }

        @Test("Equal limits read exactly that number of bytes", arguments: Medium.streams)
        func exactLength(medium: Medium) async throws {
            try await Pair.with(medium) { pair in
                let content = Data.pattern(10_000)
                try await pair.server.deliver(content)
                var all = Data()
                for length in [1, 2, 997, 4_000, 5_000] {
                    let answer = try await pair.client.receive(length, length)
                    #expect(answer.data?.count == length)
                    all += answer.data ?? Data()
                }
                #expect(all == content)
            }
        }

        struct Odd: Sendable, CustomTestStringConvertible {
            var minimum: Int
            var maximum: Int
            var expected: String
            var testDescription: String { "\(minimum)...\(maximum)" }
        }

        @Test(
            "Invalid limits are corrected",
            arguments: [
                Odd(minimum: 0, maximum: 3, expected: "abc"), Odd(minimum: -5, maximum: 3, expected: "abc"),
                Odd(minimum: 1, maximum: .max, expected: "abcdef"), Odd(minimum: 2, maximum: 0, expected: "a"),
                Odd(minimum: 10, maximum: 5, expected: "abcde"),
                Odd(minimum: 0, maximum: 0, expected: "a"), Odd(minimum: .min, maximum: .min, expected: "a"),
            ])
        func oddLengths(row: Odd) async throws {
            try await Pair.with(.tcp4) { pair in
                try await pair.server.deliver(Data("abcdef"))
                #expect(try await pair.client.receive(row.minimum, row.maximum).text == row.expected)
            }
        }

        @Test("Several pending receives complete in order, each once", arguments: Medium.streams)
        func severalOutstanding(medium: Medium) async throws {
            try await Pair.with(medium) { pair in
                let answers = Mailbox<Received>()
                for _ in 0..<50 { pair.client.request(7, 7, into: answers) }
                let content = Data.pattern(350)
                try await pair.server.deliver(content.prefix(100))
                try await pair.server.deliver(content.dropFirst(100))
                let all = try await answers.next(50)
                #expect(all.reduce(Data()) { $0 + ($1.data ?? Data()) } == content)
                await pair.client.settle()
                #expect(answers.history.count == 50)
            }
        }

        @Test("A receive before the start waits for the connection")
        func receiveBeforeStart() async throws {
            let listener = try ListenerProbe(.tcp4)
            try await listener.listen()
            let client = Probe(to: listener.endpoint, using: .tcp)
            let answers = client.request(5, 5)
            client.start()
            try await client.ready()
            let server = try await listener.connections.next()
            let early = server.requestMessage()
            server.start()
            try await server.deliver(Data("hello"), .finalMessage)
            #expect(try await answers.next().text == "hello")
            try await client.deliver(Data("and back"), .finalMessage)
            #expect(try await early.next().text == "and back")
            try await client.cancel()
            try await server.cancel()
            try await listener.cancel()
        }

        @Test(
            "The end: the last bytes with isComplete, or isComplete alone; afterwards ENODATA",
            arguments: Medium.streams)
        func endOfStream(medium: Medium) async throws {
            try await Pair.with(medium) { pair in
                let answers = pair.client.request(100, 100)
                try await pair.server.deliver(Data("short"), .finalMessage)
                let last = try await answers.next()
                #expect(last.text == "short")
                #expect(last.isComplete && last.isFinal && last.error == nil)
                for _ in 0..<3 {
                    let later = try await pair.client.receive()
                    #expect(later.data == nil && later.isComplete && later.error == .posix(.ENODATA))
                }
                #expect(pair.client.connection.state == .ready)
            }
            try await Pair.with(medium) { pair in
                try await pair.server.deliver(Data("exact"))
                #expect(try await pair.client.receive(5, 5).isComplete == false)
                try await pair.server.sendEnd()
                let end = try await pair.client.receive(5, 5)
                #expect(end.data == nil && end.isComplete && end.isFinal && end.error == nil)
                #expect(try await pair.client.receive().error == .posix(.ENODATA))
            }
        }

        @Test("Content longer than the maximum arrives in parts, and only the last is complete")
        func endInPieces() async throws {
            try await Pair.with(.tcp4) { pair in
                try await pair.server.deliver(Data("abcdef"), .finalMessage)
                let first = try await pair.client.receive(4, 4)
                #expect(first.text == "abcd" && !first.isComplete && !first.isFinal)
                // The stream has fewer bytes left than the call's minimum of 4. So the receive call waits for the end
                // of the stream.
                let second = try await pair.client.receive(4, 4)
                #expect(second.text == "ef" && second.isComplete && second.isFinal)
            }
        }

        @Test("receiveMessage() returns nothing before the peer's end, then everything", arguments: Medium.streams)
        func wholeStream(medium: Medium) async throws {
            try await Pair.with(medium) { pair in
                let answers = pair.client.requestMessage()
                let content = Data.pattern(300_000)
                try await pair.server.deliver(content.prefix(1_000))
                #expect(await answers.take(within: Patience.silence) == nil)
                try await pair.server.deliver(content.dropFirst(1_000), .finalMessage)
                let answer = try await answers.next()
                #expect(answer.data == content)
                #expect(answer.isComplete && answer.isFinal && answer.error == nil)
            }
        }

        @Test("Discontiguous receives return the same content")
        func discontiguous() async throws {
            try await Pair.with(.tcp4) { pair in
                let content = Data.pattern(70_000)
                let answers = Mailbox<Received>()
                pair.client.connection.receiveDiscontiguous(
                    minimumIncompleteLength: 70_000, maximumLength: 70_000
                ) { data, context, isComplete, error in
                    answers.put(
                        Received(data: data.map { Data($0) }, context: context, isComplete: isComplete, error: error))
                }
                pair.client.connection.receiveMessageDiscontiguous { data, context, isComplete, error in
                    answers.put(
                        Received(data: data.map { Data($0) }, context: context, isComplete: isComplete, error: error))
                }
                try await pair.server.deliver(content)
                #expect(try await answers.next().data == content)
                try await pair.server.deliver(Data("end"), .finalMessage)
                let end = try await answers.next()
                #expect(end.data == Data("end") && end.isComplete && end.isFinal)
            }
        }

        @Test("Without a receive the peer's window closes, and opens with the next receive")
        func flowControl() async throws {
            try await Pair.with(.tcp4) { pair in
                let block = Data(count: 1 << 20)
                let outcomes = Mailbox<NWError?>()
                for _ in 0..<64 { pair.server.send(block, into: outcomes) }
                var taken = 0
                while await outcomes.take(within: Patience.silence) != nil { taken += 1 }
                #expect(taken < 64)
                var received = 0
                while received < 64 << 20 { received += try await pair.client.receive(1, 4 << 20).data?.count ?? 0 }
                #expect(try await outcomes.next(64 - taken).allSatisfy { $0 == nil })
            }
        }

        @Test("Content keeps its order and its bytes in both directions at the same time", arguments: Medium.streams)
        func bothDirections(medium: Medium) async throws {
            try await Pair.with(medium) { pair in
                async let up: Void = Self.move(from: pair.client, to: pair.server)
                async let down: Void = Self.move(from: pair.server, to: pair.client)
                _ = try await (up, down)
            }
        }

        private static func move(from sender: Probe, to receiver: Probe) async throws {
            let blockSize = 77_777
            let sends = Mailbox<NWError?>()
            for index in 0..<40 { sender.send(.pattern(blockSize, from: index * blockSize), into: sends) }
            var offset = 0
            while offset < 40 * blockSize {
                let data = try await receiver.receive(1, 50_000).data ?? Data()
                #expect(data == Data.pattern(data.count, from: offset))
                offset += data.count
            }
            #expect(try await sends.next(40).allSatisfy { $0 == nil })
        }
    }
}
