import Causeway
import CausewaySystem
import Dispatch
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("Sending to a stream")
    struct SendTests {
        @Test("Sends before the start and before ready are sent in order", arguments: Medium.streams)
        func earlySends(medium: Medium) async throws {
            let listener = try ListenerProbe(medium)
            try await listener.listen()
            let client = Probe(to: listener.endpoint, using: medium.parameters)
            let outcomes = Mailbox<NWError?>()
            for digit in 0..<60 { client.send(Data("\(digit),"), into: outcomes) }
            #expect(await outcomes.take(within: Patience.silence) == nil)
            client.start()
            for digit in 60..<100 { client.send(Data("\(digit),"), into: outcomes) }
            try await client.ready()
            let server = try await listener.connections.next().start()
            client.send(nil, .finalMessage)
            let expected = (0..<100).map { "\($0)," }.joined()
            #expect(try await server.receiveMessage().text == expected)
            #expect(try await outcomes.next(100).allSatisfy { $0 == nil })
            try await client.cancel()
            try await server.cancel()
            try await listener.cancel()
        }

        @Test("Completions run in order, one per send")
        func completionsInOrder() async throws {
            try await Pair.with(.tcp4) { pair in
                let order = Mailbox<Int>()
                for index in 0..<200 {
                    pair.client.connection.send(
                        content: .pattern(10_000), completion: .contentProcessed { _ in order.put(index) })
                }
                var received = 0
                while received < 2_000_000 { received += try await pair.server.receive(1, 100_000).data?.count ?? 0 }
                #expect(try await order.next(200) == Array(0..<200))
                await pair.client.settle()
                #expect(order.history.count == 200)
            }
        }

        @Test("A block of many megabytes arrives completely", arguments: Medium.streams)
        func largeBlock(medium: Medium) async throws {
            try await Pair.with(medium) { pair in
                let content = Data.pattern(20 << 20)
                let outcome = pair.client.send(content)
                let answer = try await pair.server.receive(content.count, content.count)
                #expect(answer.data == content)
                #expect(try await outcome.next() == nil)
            }
        }

        @Test("Empty content, and no content, complete without sending", arguments: Medium.streams)
        func nothing(medium: Medium) async throws {
            try await Pair.with(medium) { pair in
                try await pair.client.deliver(Data())
                try await pair.client.deliver(nil)
                try await pair.client.deliver(nil, isComplete: false)
                try await pair.client.deliver(Data("x"))
                #expect(try await pair.server.receive().text == "x")
            }
        }

        @Test("Other kinds of content are accepted")
        func genericContent() async throws {
            try await Pair.with(.tcp4) { pair in
                let outcomes = Mailbox<NWError?>()
                pair.client.connection.send(
                    content: Array("array".utf8), completion: .contentProcessed { outcomes.put($0) })
                pair.client.connection.send(
                    content: Array("slice!".utf8)[0..<5], completion: .contentProcessed { outcomes.put($0) })
                pair.client.connection.send(
                    content: Data("---data").dropFirst(3), completion: .contentProcessed { outcomes.put($0) })
                try await outcomes.expect(nil, nil, nil)
                #expect(try await pair.server.receive(14, 14).text == "arrayslicedata")
            }
        }

        @Test("Idempotent content is sent without a completion, also before the start")
        func idempotent() async throws {
            let listener = try ListenerProbe(.tcp4)
            try await listener.listen()
            let client = Probe(to: listener.endpoint, using: .tcp)
            client.connection.send(content: Data("early "), completion: .idempotent)
            client.start()
            client.connection.send(content: Data("late"), completion: .idempotent)
            let server = try await listener.connections.next().start()
            #expect(try await server.receive(10, 10).text == "early late")
            try await client.cancel()
            try await server.cancel()
            try await listener.cancel()
        }

        @Test("batch() runs at once and keeps the order", arguments: Medium.streams)
        func batch(medium: Medium) async throws {
            try await Pair.with(medium) { pair in
                let outcomes = Mailbox<NWError?>()
                var hasRun = false
                pair.client.connection.batch {
                    for index in 0..<100 { pair.client.send(Data([UInt8(index)]), into: outcomes) }
                    hasRun = true
                }
                #expect(hasRun)
                let received = try await pair.server.receive(100, 100)
                #expect(received.data == Data(0..<100))
                let errors = try await outcomes.next(100)
                #expect(errors.allSatisfy { $0 == nil })
            }
        }

        // MARK: Grouped content

        @Test("Grouped content arrives completely and in order", arguments: Medium.streams)
        func together(medium: Medium) async throws {
            try await Pair.with(medium) { pair in
                let client = pair.client.connection
                try await client.send(together: [])
                let large = (0..<4).map { Data.pattern(3_000_000, from: $0) }
                let contents = large + [Data(), Data("end")]
                async let sent: Void = client.send(together: contents)
                let all = contents.reduce(Data(), +)
                // Compare the content outside the expectation. Otherwise the test library would search for the
                // difference in megabytes for hours.
                let arrivedWhole = try await pair.server.receive(all.count, all.count).data == all
                #expect(arrivedWhole)
                try await sent
            }
        }

        @Test("Cancelling withdraws the unsent part of grouped content")
        func cancelTogether() async throws {
            try await Pair.with(.tcp4) { pair in
                let client = pair.client.connection
                // This content is larger than the socket buffers. But a single `receiveMessage` call can return it.
                let first = Data.pattern(12 << 20)
                let task = Task { try await client.send(together: [first, Data("taken back")]) }
                var received = try #require(try await pair.server.receive(1, 1).data)
                task.cancel()
                await #expect(throws: NWError.posix(.ECANCELED)) { try await task.value }
                let outcome = pair.client.send(Data("next"), .finalMessage)
                received += try #require(try await pair.server.receiveMessage().data)
                let arrivedWhole = received == first + Data("next")
                #expect(arrivedWhole)
                #expect(try await outcome.next() == nil)
            }
        }

        // MARK: Half-close

        enum Content: String, CaseIterable, CustomTestStringConvertible, Sendable {
            case none, separate, together
            var testDescription: String { rawValue }
        }

        @Test("Half-close: the other direction stays open", arguments: Medium.streams, Content.allCases)
        func halfClose(medium: Medium, content: Content) async throws {
            try await Pair.with(medium) { pair in
                switch content {
                case .none: try await pair.client.sendEnd()
                case .separate:
                    try await pair.client.deliver(Data("question"))
                    try await pair.client.sendEnd()
                case .together: try await pair.client.deliver(Data("question"), .finalMessage)
                }
                let question = try await pair.server.receiveMessage()
                #expect(question.text == (content == .none ? nil : "question"))
                #expect(question.isComplete && question.isFinal)
                #expect(pair.server.connection.state == .ready)
                try await pair.server.deliver(Data("answer"), .defaultStream)
                let answer = try await pair.client.receiveMessage()
                #expect(answer.text == "answer" && answer.isFinal)
                // Both directions have ended, so the connection fails.
                try await pair.client.states.expect(.failed(.posix(.ENOTCONN)))
            }
        }

        @Test("Nothing can be sent after the final message")
        func sendAfterFinal() async throws {
            try await Pair.with(.tcp4) { pair in
                try await pair.client.deliver(Data("x"), .finalMessage)
                #expect(try await pair.client.send(Data("y")).next() == .posix(.EPIPE))
                #expect(pair.client.connection.state == .ready)
                #expect(try await pair.server.receiveMessage().text == "x")
            }
        }

        @Test("A final message ends the stream only once it is complete")
        func incompleteFinal() async throws {
            try await Pair.with(.tcp4) { pair in
                let context = NWConnection.ContentContext(identifier: "final", isFinal: true)
                try await pair.client.deliver(Data("a"), context, isComplete: false)
                try await pair.client.deliver(Data("b"), context, isComplete: false)
                let answers = pair.server.requestMessage()
                #expect(await answers.take(within: Patience.silence) == nil)
                try await pair.client.deliver(Data("c"), context, isComplete: true)
                #expect(try await answers.next().text == "abc")
            }
        }
    }
}
