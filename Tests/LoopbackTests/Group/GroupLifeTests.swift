import Causeway
import CausewaySystem
import Dispatch
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("Connection groups: lifetime and connections")
    struct GroupLifeTests {
        let port: NWEndpoint.Port
        let endpoint: NWEndpoint

        init() throws {
            port = try GroupProbe.freePort()
            endpoint = .hostPort(host: GroupProbe.host, port: port)
        }

        func descriptor() throws -> NWMulticastGroup { try NWMulticastGroup(for: [endpoint]) }

        func client() -> Probe { Probe(to: .hostPort(host: "127.0.0.1", port: port), using: .udp) }

        @Test("A message sent before the start is transmitted after it; a message after the end fails")
        func early() async throws {
            let member = GroupProbe(try descriptor())
            let early = member.send("early")
            #expect(member.group.state == .setup && member.group.queue == nil)
            try await member.ready()
            #expect(try await early.next() == nil)
            #expect(try await member.messages.next().text == "early")
            #expect(try await member.send("x", to: .hostPort(host: "::1", port: port)).next() == .posix(.EAFNOSUPPORT))
            #expect(try await member.send("x", to: .hostPort(host: "127.0.0.1", port: .any)).next() == .posix(.EINVAL))
            #expect(try await member.send("x", to: .unix(path: "/tmp/x")).next() == .posix(.EINVAL))
            try await member.cancel()
            #expect(try await member.send("late").next() == .posix(.ECANCELED))
        }

        @Test("Cancelling a group that was never started completes its messages")
        func neverStarted() async throws {
            let member = GroupProbe(try descriptor())
            let outcome = member.send("unsent")
            member.group.cancel()
            #expect(try await outcome.next() == .posix(.ECANCELED))
            #expect(member.group.state == .cancelled && member.states.history.isEmpty)
        }

        @Test("A group without a usable interface waits, and a message expires meanwhile")
        func waiting() async throws {
            let member = GroupProbe(try descriptor()) { $0.prohibitedInterfaceTypes = [.loopback] }
            let waiting = member.send("never", NWConnectionGroup.Message(identifier: "kept"))
            let expiring = member.send("late", NWConnectionGroup.Message(identifier: "expiring", expiration: 20))
            member.start()
            #expect(try await member.states.next() == .waiting(.posix(.ENETDOWN)))
            #expect(try await expiring.next() == .posix(.ETIMEDOUT))
            try await member.cancel()
            #expect(try await waiting.next() == .posix(.ECANCELED))
        }

        @Test("A port in use fails the group, unless both share it")
        func taken() async throws {
            let first = GroupProbe(try descriptor()) { $0.allowLocalEndpointReuse = false }
            try await first.ready()
            let second = GroupProbe(try descriptor()).start()
            #expect(try await second.states.next() == .failed(.posix(.EADDRINUSE)))
            #expect(try await second.send("x").next() == .posix(.EADDRINUSE))
            try await second.cancel()
            try await first.cancel()
        }

        static let contradictions: [@Sendable (NWParameters) -> Void] = [
            { $0.requiredLocalEndpoint = .hostPort(host: "127.0.0.1", port: 1) },
            { $0.defaultProtocolStack.transportProtocol = NWProtocolTCP.Options() },
        ]

        @Test("Parameters that contradict the group fail it", arguments: contradictions)
        func mistakes(tune: @Sendable (NWParameters) -> Void) async throws {
            let member = GroupProbe(try descriptor(), tune).start()
            #expect(try await member.states.next() == .failed(.posix(.EINVAL)))
            try await member.cancel()
        }

        @Test("A sender can be extracted as a connection over the group's port, and returns to the group afterwards")
        func extraction() async throws {
            let member = GroupProbe(try descriptor())
            try await member.ready()
            let client = client().start()
            try await client.ready()
            try await client.deliver(Data("one".utf8))
            let first = try await member.messages.next()
            let connection = Probe(try #require(first.message.extractConnection()))
            #expect(connection.connection.endpoint == first.message.remoteEndpoint)
            #expect(first.message.extractConnection() == nil && NWConnection(message: first.message) == nil)
            connection.start()
            try await client.deliver(Data("two".utf8))
            #expect(try await connection.receiveMessage().text == "two")
            try await connection.deliver(Data("back".utf8))
            #expect(try await client.receiveMessage().text == "back")
            let pending = connection.requestMessage()
            #expect(member.group.reinsert(connection: connection.connection))
            #expect(try await pending.next().error == .posix(.ECANCELED))
            try await connection.states.first { $0 == .cancelled }
            #expect(!member.group.reinsert(connection: connection.connection))
            try await client.deliver(Data("three".utf8))
            #expect(try await member.messages.next().text == "three")
            #expect(member.messages.history.count == 2)
            try await client.cancel()
            try await member.cancel()
        }

        @Test("A connection to a host is extracted from the group, and outlives it")
        func extractTo() async throws {
            let peer = try ListenerProbe(.udp4)
            try await peer.listen()
            let member = GroupProbe(try descriptor())
            #expect(member.group.extract(connectionTo: peer.endpoint) == nil)
            try await member.ready()
            #expect(member.group.extract() == nil && NWConnection(from: member.group) == nil)
            let connection = Probe(try #require(member.group.extract(connectionTo: peer.endpoint))).start()
            #expect(NWConnection(from: member.group, to: peer.endpoint) == nil)
            #expect(!member.group.reinsert(connection: NWConnection(to: peer.endpoint, using: .udp)))
            try await connection.deliver(Data("hello".utf8))
            let server = try await peer.connections.next().start()
            #expect(server.connection.endpoint == .hostPort(host: "127.0.0.1", port: port))
            try await member.cancel()
            try await server.deliver(Data("still there?".utf8))
            _ = try await server.receiveMessage()
            #expect(try await connection.receiveMessage().text == "still there?")
            try await connection.cancel()
            try await server.cancel()
            try await peer.cancel()
        }

        @Test("Without a receive handler, each sender becomes a connection with its first message")
        func newConnections() async throws {
            let member = GroupProbe(try descriptor())
            let connections = Mailbox<Probe>()
            member.group.setReceiveHandler(handler: nil)
            member.group.newConnectionHandler = { connections.put(Probe($0)) }
            try await member.ready()
            let client = client().start()
            try await client.ready()
            try await client.deliver(Data("one".utf8))
            try await client.deliver(Data("two".utf8))
            let connection = try await connections.next().start()
            #expect(try await connection.receiveMessage().text == "one")
            #expect(try await connection.receiveMessage().text == "two")
            try await connection.cancel()
            try await client.cancel()
            try await member.cancel()
            #expect(connections.history.count == 1)
        }

        @Test("A busy queue drops messages that exceed its limit, in order, and memory stays bounded")
        func flood() async throws {
            let member = GroupProbe(try descriptor())
            try await member.ready()
            member.queue.suspend()
            let outcomes = Mailbox<NWError?>()
            let sender = client().start()
            try await sender.ready()
            for number in 0..<12_000 { sender.send(Data("\(number)".utf8), into: outcomes) }
            _ = try await outcomes.next(12_000)
            // The group must have read all datagrams. Otherwise, it would also deliver those that it reads while the
            // queue makes space.
            let isRead = await eventually { GroupProbe.hasRead(port) }
            member.queue.resume()
            #expect(isRead)
            try await eventually("the group receives again") {
                // Messages are dropped until there is space. So `member` sends its message again until it is received.
                _ = member.send("end")
                return member.messages.history.last?.text == "end"
            }
            let numbers = member.messages.history.compactMap { Int($0.text) }
            #expect(numbers == numbers.sorted() && !numbers.isEmpty && numbers.count <= 8_192 + 256)
            try await sender.cancel()
            try await member.cancel()
        }

        @Test("Cancelling at any moment leaks no descriptor")
        func descriptors() async {
            // Run in a separate process, so that no other code opens or closes file descriptors.
            await #expect(processExitsWith: .success) {
                try await Self.cycle(20)
                let before = Self.openDescriptors
                try await Self.cycle(200)
                // Besides the descriptors in `before`, one netlink socket can be open. It watches the network and
                // belongs to no group. It is closed soon.
                #expect(await eventually { Self.openDescriptors <= before })
            }
        }

        private static var openDescriptors: Int {
            (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? -1
        }

        private static func cycle(_ count: Int) async throws {
            let port = try GroupProbe.freePort()
            let descriptor = try NWMulticastGroup(for: [.hostPort(host: GroupProbe.host, port: port)])
            for round in 0..<count {
                let member = GroupProbe(descriptor).start()
                if round % 3 == 0 { try await member.states.first { $0 == .ready } }
                if round % 3 != 1 { _ = member.send("x") }
                try await member.cancel()
                #expect(member.states.history.filter { $0 == .cancelled }.count == 1)
                #expect(member.states.history.last == .cancelled)
            }
        }
    }
}
