import Causeway
import CausewaySystem
import Dispatch
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("Reports of connections with protocol stacks")
    struct StackReportTests {
        private typealias Report = NWConnection.EstablishmentReport

        private static func establishment(of probe: Probe) async throws -> Report {
            let reports = Mailbox<Report?>()
            probe.connection.requestEstablishmentReport(queue: probe.queue) { reports.put($0) }
            return try #require(try await reports.next())
        }

        private static func collect(
            _ pending: NWConnection.PendingDataTransferReport
        ) async throws -> NWConnection.DataTransferReport {
            let reports = Mailbox<NWConnection.DataTransferReport>()
            pending.collect(queue: DispatchQueue(label: "report")) { reports.put($0) }
            return try await reports.next()
        }

        /// Returns parameters for TLS, with WebSocket above TLS and a framer above WebSocket. The framer exchanges
        /// greetings.
        private static func parameters(isServer: Bool) throws -> NWParameters {
            let parameters = try MessageStack.webSocketOverTLS.parameters(isServer: isServer)
            parameters.defaultProtocolStack.applicationProtocols.insert(
                PieceFramer.options(greets: true, seed: 1), at: 0)
            return parameters
        }

        @Test("Every protocol's handshake is reported, the lowest first")
        func handshakes() async throws {
            try await StackPair.with(
                client: try Self.parameters(isServer: false), server: try Self.parameters(isServer: true)
            ) { pair in
                let above: [NWProtocolDefinition] = [
                    NWProtocolTLS.definition, NWProtocolWebSocket.definition, PieceFramer.definition,
                ]
                let report = try await Self.establishment(of: pair.client)
                #expect(report.handshakes.map(\.definition) == [NWProtocolTCP.definition] + above)
                #expect(report.handshakes.allSatisfy { $0.handshakeDuration > 0 && $0.handshakeRTT > 0 })
                // The handshakes take place one after the other. So the sum of their durations is at most the total
                // duration.
                #expect(report.handshakes.map(\.handshakeDuration).reduce(0, +) <= report.duration)
                #expect(report.handshakes[1].handshakeRTT < report.duration)
                // The server's report begins when the connection is accepted, so it does not cover the steps before.
                let other = try await Self.establishment(of: pair.server)
                #expect(other.handshakes.map(\.definition) == above)
                #expect(other.handshakes.map(\.handshakeDuration).reduce(0, +) <= other.duration)
                #expect(other.resolutions.isEmpty && other.previousAttemptCount == 0 && !other.usedProxy)
            }
        }

        @Test("A framer that is ready at once reports no handshake")
        func noHandshake() async throws {
            try await StackPair.with(
                client: LengthFramer.parameters(.tcp), server: LengthFramer.parameters(.tcp)
            ) { pair in
                let report = try await Self.establishment(of: pair.client)
                #expect(report.handshakes.map(\.definition) == [NWProtocolTCP.definition])
            }
        }

        @Test("An accepted connection without further protocols reports no handshake")
        func accepted() async throws {
            try await Pair.with(.tcp4) { pair in
                let report = try await Self.establishment(of: pair.server)
                #expect(report.duration == 0 && report.handshakes.isEmpty && report.previousAttemptCount == 0)
            }
        }

        @Test("Failed attempts are counted, also before waiting")
        func previousAttempts() async throws {
            let holder = try RawSocket.refusing(.tcp4)
            let client = Probe(to: Medium.tcp4.endpoint(of: holder), using: .tcp).start()
            defer { client.connection.cancel() }
            try await client.states.first { $0 == .waiting(.posix(.ECONNREFUSED)) }
            try Socket.listen(holder.fd, backlog: 4)
            client.connection.restart()
            try await client.states.first { $0 == .ready }
            let report = try await Self.establishment(of: client)
            #expect(report.previousAttemptCount == 1 && report.attemptStartedAfterInterval > 0)
            withExtendedLifetime(holder) {}
        }

        @Test("The name resolution is reported")
        func resolution() async throws {
            let listener = try ListenerProbe(.tcp4)
            try await listener.listen()
            defer { listener.listener.cancel() }
            let parameters = NWParameters.tcp
            (parameters.defaultProtocolStack.internetProtocol as? NWProtocolIP.Options)?.version = .v4
            let client = Probe(to: .hostPort(host: "localhost", port: listener.port), using: parameters).start()
            defer { client.connection.cancel() }
            try await client.ready()
            let report = try await Self.establishment(of: client)
            let resolution = try #require(report.resolutions.first)
            #expect(report.resolutions.count == 1 && resolution.endpointCount == 1 && resolution.duration > 0)
            #expect(resolution.successfulEndpoint == listener.endpoint)
            #expect(resolution.preferredEndpoint == listener.endpoint)
            #expect(report.attemptStartedAfterInterval == 0)
        }

        @Test("A transfer report distinguishes application bytes from transport bytes")
        func transfer() async throws {
            try await StackPair.with(
                client: try Self.parameters(isServer: false), server: try Self.parameters(isServer: true)
            ) { pair in
                let context = MessageStack.framer.context(kind: 1)
                let pending = pair.client.connection.startDataTransferReport()
                let pendingServer = pair.server.connection.startDataTransferReport()
                try await pair.client.deliver(Data(count: 20_000), context)
                #expect(try await pair.server.receiveMessage().data?.count == 20_000)
                try await pair.server.deliver(Data(count: 300), context)
                #expect(try await pair.client.receiveMessage().data?.count == 300)
                for (report, received, sent) in [
                    (try await Self.collect(pending), 300, 20_000),
                    (try await Self.collect(pendingServer), 20_000, 300),
                ] {
                    let sum = report.aggregatePathReport
                    #expect(sum.sentApplicationByteCount == sent && sum.receivedApplicationByteCount == received)
                    // The framer, WebSocket and TLS each add headers to the content. So the connection sends more bytes
                    // than the program.
                    #expect(sum.sentTransportByteCount > sent && sum.sentTransportByteCount < sent + 2_000)
                    #expect(sum.receivedTransportByteCount > received)
                    #expect(sum.sentIPPacketCount > 0 && sum.receivedIPPacketCount > 0)
                    #expect(sum.transportSmoothedRTT > 0 && sum.transportMinimumRTT > 0)
                    #expect(sum.interface.name == "lo" && report.pathReports.count == 1)
                }
            }
        }

        @Test("A transfer report that is started early counts from readiness on")
        func early() async throws {
            let stack = MessageStack.framer
            let listener = ListenerProbe(try NWListener(using: try stack.parameters(isServer: true)))
            listener.listener.newConnectionHandler = { $0.start(queue: DispatchQueue(label: "accepted")) }
            try await listener.listen()
            defer { listener.listener.cancel() }
            let client = Probe(to: listener.endpoint, using: try stack.parameters(isServer: false))
            defer { client.connection.cancel() }
            let pending = client.connection.startDataTransferReport()
            client.start()
            try await client.ready()
            // The greetings of the framers are sent before the report starts to count.
            let sum = try await Self.collect(pending).aggregatePathReport
            #expect(sum.sentTransportByteCount == 0 && sum.receivedTransportByteCount == 0)
            #expect(sum.sentApplicationByteCount == 0 && sum.receivedApplicationByteCount == 0)
        }
    }
}
