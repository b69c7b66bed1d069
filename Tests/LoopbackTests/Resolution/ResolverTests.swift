import CausewayProtocols
import CausewayRuntime
import CausewaySystem
import CausewayTypes
import CausewayWire
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("Resolver with real sockets")
    struct ResolverTests {
        private func engine(_ server: NameServer, _ directory: ResolverDirectory) -> ResolverEngine {
            Backend.choose()
            return ResolverEngine(on: Engine.nextLoop(), files: directory.files, port: server.port)
        }

        @Test("A name is queried over UDP, and cached")
        func asks() async throws {
            let server = try NameServer { query, _ in query.loopbackResponse() }
            // With a shorter timeout, a slow server would get the same queries again.
            let directory = try ResolverDirectory(resolv: "nameserver 127.0.0.1\noptions timeout:30")
            let engine = engine(server, directory)
            let first = await engine.outcome(of: "www.example.com")
            #expect(first.addresses == [.ipv4(bits: 0x7F00_0001, port: 0)])
            #expect(first.origins == [.query(.udp)])
            #expect(Set(server.heard.map(\.question.type)) == [.a, .aaaa])
            // The address may be cached. The absence of an IPv6 address may not be cached, because the answer has no
            // SOA record.
            let second = await engine.outcome(of: "WWW.example.com", families: [.ipv4])
            #expect(second.origins == [.cache])
            #expect(server.heard.count == 2)
        }

        @Test("A cached name, or one in the hosts file, needs no other thread")
        func known() async throws {
            let server = try NameServer { query, _ in query.loopbackResponse() }
            let directory = try ResolverDirectory(hosts: "192.0.2.7 box\n")
            let engine = engine(server, directory)
            #expect(engine.known(NameRequest("www.example.com", families: [.ipv4])) == nil)
            _ = await engine.outcome(of: "www.example.com", families: [.ipv4])
            #expect(engine.known(NameRequest("www.example.com", families: [.ipv4]))?.isEmpty == false)
            #expect(engine.known(NameRequest("www.example.com", families: [.ipv4], partition: 9)) == nil)
            #expect(engine.known(NameRequest("box"))?.isEmpty == false)
            #expect(engine.known(NameRequest("localhost"))?.isEmpty == false)
            engine.forget(partition: 0)
            #expect(engine.known(NameRequest("www.example.com", families: [.ipv4])) == nil)
        }

        @Test("A truncated answer is fetched over TCP")
        func truncated() async throws {
            let server = try NameServer { query, carrier in
                guard carrier == .udp else {
                    let name = query.questions[0].name
                    let many = (0..<200).map {
                        DNSRecord(name, .a, timeToLive: 60, .ipv4(IPv4Address(bits: 0x0A00_0000 + $0)))
                    }
                    return query.response(.noError, query.questions[0].type == .a ? many : [])
                }
                var message = query.response()
                message.flags.insert(.isTruncated)
                return message
            }
            let streams = Task { try await server.serveStreams() }
            defer { streams.cancel() }
            let directory = try ResolverDirectory()
            let outcome = await engine(server, directory).outcome(of: "many.example", families: [.ipv4])
            #expect(outcome.addresses.count == 200)
            #expect(outcome.origins == [.query(.tcp)])
        }

        @Test("A server address without a listener is detected at once, and the next server answers")
        func refused() async throws {
            let server = try NameServer { query, _ in query.loopbackResponse() }
            // The host reports with an ICMP message that the port is unused.
            let directory = try ResolverDirectory(resolv: "nameserver 127.9.9.9\nnameserver 127.0.0.1")
            let outcome = await engine(server, directory).outcome(of: "www.example.com", families: [.ipv4])
            #expect(outcome.addresses.count == 1)
        }

        @Test("If no server listens, the lookup ends with an error")
        func noServer() async throws {
            let socket = try RawSocket.refusing(.udp4)
            let directory = try ResolverDirectory()
            Backend.choose()
            let engine = ResolverEngine(on: Engine.nextLoop(), files: directory.files, port: socket.port)
            let outcome = await engine.outcome(of: "www.example.com")
            #expect(outcome.problem == .connectionRefused)
            withExtendedLifetime(socket) {}
        }

        @Test("Changed files take effect at once", arguments: [false, true])
        func follows(_ isReplaced: Bool) async throws {
            let server = try NameServer { query, _ in query.response(.nameError) }
            let directory = try ResolverDirectory()
            let engine = engine(server, directory)
            #expect(await engine.outcome(of: "box", families: [.ipv4]).problem == .notFound)
            let path = directory.files.hostsPath
            try isReplaced ? directory.replace("192.0.2.7 box\n", path) : directory.write("192.0.2.7 box\n", path)
            try await eventually("the new hosts file is used") {
                await engine.outcome(of: "box", families: [.ipv4]).addresses == [.ipv4(bits: 0xC000_0207, port: 0)]
            }
        }

        @Test("A thousand concurrent names use two sockets, which are closed afterwards")
        func many() async throws {
            let server = try NameServer { query, _ in query.loopbackResponse() }
            let directory = try ResolverDirectory()
            let engine = engine(server, directory)
            let found = await withTaskGroup(of: Int.self) { group in
                for number in 0..<1_000 {
                    group.addTask { await engine.outcome(of: "n\(number).example").addresses.count }
                }
                return await group.reduce(0, +)
            }
            #expect(found == 1_000)
            #expect(server.heard.count >= 2_000)
            try await eventually("every socket is closed") { await engine.openSockets == 0 }
        }

        @Test("The right answer is accepted after hundreds of forged ones, which leave no trace")
        func forged() async throws {
            // The number of forged answers is limited. Otherwise, they would fill the kernel's receive buffer, and the
            // right answer would be dropped.
            let forge: NameServer.Forgeries = { query in
                (1..<200).map { number in
                    var message = query.response()
                    switch number % 4 {
                    case 0: message.questions[0].name = "other.example"
                    case 1: message.questions[0].type = .txt
                    default: message.id &+= UInt16(number)
                    }
                    message.answers = [DNSRecord("www.example.com", .a, timeToLive: 60, .ipv4(IPv4Address(bits: 66)))]
                    return message
                }
            }
            let server = try NameServer(forging: forge) { query, _ in query.loopbackResponse() }
            let directory = try ResolverDirectory(resolv: "nameserver 127.0.0.1\noptions timeout:2 attempts:5\n")
            let engine = engine(server, directory)
            for number in 0..<20 {
                let outcome = await engine.outcome(of: "n\(number).example", families: [.ipv4])
                #expect(outcome.addresses == [.ipv4(bits: 0x7F00_0001, port: 0)])
                #expect(outcome.problem == nil)
            }
            try await eventually("every socket is closed") { await engine.openSockets == 0 }
        }

        @Test("A server that floods a TCP connection with empty messages does not delay other lookups")
        func flooded() async throws {
            let server = try NameServer { query, _ in
                var message = query.loopbackResponse()
                if query.questions[0].name == "flood.example" { message.flags.insert(.isTruncated) }
                return message
            }
            let begun = LockedValue(false)
            let flood = Task { try await server.floodStream { begun.withLock { $0 = true } } }
            defer { flood.cancel() }
            let directory = try ResolverDirectory()
            let engine = engine(server, directory)
            let lookup = engine.resolve(NameRequest("flood.example", families: [.ipv4])) { _ in }
            defer { lookup.cancel() }
            try await eventually("the flood has begun") { begun.withLock { $0 } }
            let outcome = await engine.outcome(of: "www.example.com", families: [.ipv4])
            #expect(outcome.addresses == [.ipv4(bits: 0x7F00_0001, port: 0)])
        }

        @Test("A cancelled lookup leaks nothing")
        func cancelled() async throws {
            let server = try NameServer { _, _ in nil }
            let directory = try ResolverDirectory()
            let engine = engine(server, directory)
            for number in 0..<100 { engine.resolve(NameRequest("n\(number).example")) { _ in }.cancel() }
            let kept = (0..<20).map { number in engine.resolve(NameRequest("k\(number).example")) { _ in } }
            try await eventually("queries are sent") { server.heard.count >= 40 }
            for one in kept { one.cancel() }
            try await eventually("every socket is closed") { await engine.openSockets == 0 }
        }

        @Test("Expired answers are used until fresh ones arrive, if that is allowed")
        func expired() async throws {
            let server = try NameServer { query, _ in query.loopbackResponse(timeToLive: 0) }
            let directory = try ResolverDirectory()
            let engine = engine(server, directory)
            #expect(await engine.outcome(of: "www.example.com", families: [.ipv4]).origins == [.query(.udp)])
            let again = await engine.outcome(of: "www.example.com", families: [.ipv4])
            #expect(again.origins == [.query(.udp)])
            let allowed = await engine.outcome(of: "www.example.com", families: [.ipv4], allowsExpired: true)
            #expect(allowed.origins == [.expiredCache, .query(.udp)])
        }
    }
}

extension ResolverEngine {
    /// The number of open sockets.
    var openSockets: Int {
        get async {
            await withCheckedContinuation { continuation in
                onLoop { continuation.resume(returning: self.socketCount) }
            }
        }
    }
}
