import Causeway
import CausewaySystem
import FoundationEssentials
import Testing

extension Loopback {
    /// Every stack carries messages of random sizes in random pieces in both directions, and each byte is compared.
    ///
    /// `CAUSEWAY_MESSAGES=100000` sets the number of messages per direction.
    @Suite("Messages through stacks")
    struct MessageTests {
        private static let count = Settings.number("CAUSEWAY_MESSAGES", default: 1_000)

        @Test("Over TCP and IPv4", arguments: MessageStack.allCases.filter { !$0.isDatagram })
        func streams(stack: MessageStack) async throws { try await Self.exchange(stack, .tcp4) }

        @Test("Over TCP and IPv6", arguments: [MessageStack.twoFramers])
        func version6(stack: MessageStack) async throws { try await Self.exchange(stack, .tcp6) }

        @Test("Over Unix sockets", arguments: [MessageStack.twoFramers, .framerOverTLS, .webSocket])
        func local(stack: MessageStack) async throws { try await Self.exchange(stack, .unix) }

        @Test("Over UDP", arguments: [MessageStack.framerOverUDP, .framerOverDTLS], Medium.datagrams)
        func datagrams(stack: MessageStack, medium: Medium) async throws { try await Self.exchange(stack, medium) }

        private static func exchange(_ stack: MessageStack, _ medium: Medium) async throws {
            try await StackPair.with(
                client: try stack.parameters(isServer: false, seed: 1),
                server: try stack.parameters(isServer: true, seed: 2), on: medium
            ) { pair in
                if stack.isDatagram { #expect(try await pair.server.receiveMessage().text == "hello") }
                let started = System.now
                async let there = move(stack, from: pair.client, to: pair.server, seed: 11)
                async let back = move(stack, from: pair.server, to: pair.client, seed: 12)
                let bytes = try await (there, back)
                let seconds = Double((System.now - started).nanoseconds) / 1e9
                if count >= 10_000 {
                    print("\(stack.rawValue), \(medium): \(count) messages each way, \(bytes) bytes, \(seconds) s")
                }
                guard !stack.isDatagram else { return }
                try await pair.client.sendEnd()
                var end = try await pair.server.receiveMessage()
                // With WebSocket, the close frame has already arrived as a separate message.
                if !stack.hasKinds { end = try await pair.server.receiveMessage() }
                #expect(end.isFinal && end.data == nil)
            }
        }

        /// Returns the number of bytes sent.
        private static func move(
            _ stack: MessageStack, from one: Probe, to other: Probe, seed: UInt64
        ) async throws -> Int {
            let sender = MessageSender(stack, on: one.connection, one.queue, seed: seed, count: count)
            let receiver = MessageReceiver(stack, on: other.connection, seed: seed, count: count) { _, length in
                sender.wasReceived(length)
            }
            receiver.ask()
            sender.begin()
            let outcome = try await receiver.outcome.next(within: Patience.limit + .milliseconds(20 * count))
            #expect(outcome == .all)
            #expect(await eventually { sender.isAnswered } && sender.failure == nil)
            return receiver.bytes
        }
    }
}
