import Causeway
import CausewaySystem
import Dispatch
import FoundationEssentials
import Testing

extension Loopback {
    /// Tests multicast over the loopback interface. The tests use only IPv4, because Linux has no route for IPv6 groups
    /// on this interface.
    @Suite("Connection groups")
    struct GroupTests {
        let port: NWEndpoint.Port
        let endpoint: NWEndpoint

        init() throws {
            port = try GroupProbe.freePort()
            endpoint = .hostPort(host: GroupProbe.host, port: port)
        }

        func descriptor(from source: String? = nil, disableUnicast: Bool = false) throws -> NWMulticastGroup {
            try NWMulticastGroup(
                for: [endpoint], from: source.map { .hostPort(host: NWEndpoint.Host($0), port: .any) },
                disableUnicast: disableUnicast)
        }

        /// Returns a UDP client that sends to 127.0.0.1.
        func client() -> Probe { Probe(to: .hostPort(host: "127.0.0.1", port: port), using: .udp) }

        @Test("A message of one member reaches all, with its sender, destination, path and metadata")
        func talk() async throws {
            let (one, two) = (GroupProbe(try descriptor()), GroupProbe(try descriptor()))
            try await one.ready()
            try await two.ready()
            try await one.deliver("hello")
            for member in [one, two] {
                let received = try await member.messages.next()
                #expect(received.text == "hello" && received.isComplete)
                #expect(received.message.remoteEndpoint == .hostPort(host: "127.0.0.1", port: port))
                #expect(received.message.localEndpoint == endpoint)
                #expect(received.message.path?.availableInterfaces.first?.type == .loopback)
                let ip = received.message.metadata(definition: NWProtocolIP.definition) as? NWProtocolIP.Metadata
                #expect(ip?.ecn == .nonECT && ip?.serviceClass == .bestEffort)
                #expect(received.message.metadata(definition: NWProtocolUDP.definition) != nil)
            }
            try await one.cancel()
            try await two.cancel()
            #expect(one.group.state == .cancelled && one.states.history == [.ready, .cancelled])
        }

        @Test("ECN, service class and time of arrival accompany each message")
        func marks() async throws {
            let member = GroupProbe(try descriptor()) { parameters in
                let ip = parameters.defaultProtocolStack.internetProtocol as? NWProtocolIP.Options
                ip?.shouldCalculateReceiveTime = true
            }
            try await member.ready()
            let marking = NWProtocolIP.Metadata().ecn(.ect1).serviceClass(.interactiveVoice)
            try await member.deliver("x", NWConnectionGroup.Message(identifier: "marked", metadata: [marking]))
            let received = try await member.messages.next()
            let ip = received.message.metadata(definition: NWProtocolIP.definition) as? NWProtocolIP.Metadata
            #expect(ip?.ecn == .ect1 && ip?.serviceClass == .interactiveVoice && (ip?.receiveTime ?? 0) > 0)
            try await member.cancel()
        }

        @Test("A reply is sent once, to the sender only, from the group's port")
        func reply() async throws {
            let member = GroupProbe(try descriptor())
            try await member.ready()
            let client = client().start()
            try await client.ready()
            try await client.deliver(Data("question"))
            let received = try await member.messages.next()
            #expect(received.text == "question")
            #expect(received.message.remoteEndpoint == client.connection.currentPath?.localEndpoint)
            #expect(received.message.localEndpoint == .hostPort(host: "127.0.0.1", port: port))
            received.message.reply(content: Data("answer"))
            received.message.reply(content: Data("once more"))
            // The client's socket is connected. It receives datagrams only from the address to which it sent.
            #expect(try await client.receiveMessage().text == "answer")
            try await member.deliver("last", to: received.message.remoteEndpoint)
            #expect(try await client.receiveMessage().text == "last")
            NWConnectionGroup.Message.default.reply(content: Data("reply"))
            try await client.cancel()
            try await member.cancel()
        }

        @Test("With unicast disabled, only messages to the group are delivered")
        func multicastOnly() async throws {
            let member = GroupProbe(try descriptor(disableUnicast: true))
            try await member.ready()
            let client = client().start()
            try await client.ready()
            try await client.deliver(Data("not for the group"))
            try await member.deliver("for the group")
            #expect(try await member.messages.next().text == "for the group")
            #expect(await member.messages.take(within: Patience.silence) == nil)
            try await client.cancel()
            try await member.cancel()
        }

        @Test(
            "A source filter accepts only its host",
            arguments: [("127.0.0.1", true), ("127.9.9.9", false)])
        func source(host: String, isHeard: Bool) async throws {
            let member = GroupProbe(try descriptor(from: host))
            try await member.ready()
            let other = GroupProbe(try descriptor())
            try await other.ready()
            try await other.deliver("hello")
            if isHeard {
                #expect(try await member.messages.next().text == "hello")
            } else {
                #expect(await member.messages.take(within: Patience.silence) == nil)
            }
            try await member.cancel()
            try await other.cancel()
        }

        @Test("Messages longer than the maximum are dropped, or delivered truncated")
        func oversized() async throws {
            let strict = GroupProbe(try descriptor(), maximum: 4)
            let lenient = GroupProbe(try descriptor(), maximum: 4, rejects: false)
            try await strict.ready()
            try await lenient.ready()
            for text in ["12345", "", "1234"] { try await strict.deliver(text) }
            #expect(try await strict.messages.next(2).map(\.text) == ["", "1234"])
            let all = try await lenient.messages.next(3)
            #expect(all.map(\.text) == ["1234", "", "1234"] && all.map(\.isComplete) == [false, true, true])
            try await strict.cancel()
            try await lenient.cancel()
        }
    }
}
