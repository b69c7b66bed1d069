import Causeway
import CausewaySystem
import Dispatch
import FoundationEssentials
import Testing

extension Loopback {
    @Suite("Paths, metadata and reports")
    struct PathAndReportTests {
        @Test("The path of a ready connection has both endpoints", arguments: [Medium.tcp4, .tcp6, .udp4, .udp6])
        func endpoints(medium: Medium) async throws {
            try await Pair.with(medium) { pair in
                let path = try #require(pair.client.connection.currentPath)
                #expect(path.status == .satisfied)
                #expect(path.remoteEndpoint == pair.listener.endpoint)
                #expect(path.localEndpoint == pair.server.connection.endpoint)
                #expect(path.availableInterfaces.map(\.name) == ["lo"])
                #expect(path.usesInterfaceType(.loopback))
                let other = try #require(pair.server.connection.currentPath)
                #expect(other.localEndpoint == path.remoteEndpoint)
                #expect(other.remoteEndpoint == path.localEndpoint)
                try await pair.client.cancel()
                #expect(pair.client.connection.currentPath == nil)
            }
        }

        @Test("Viability and the path are reported once the connection is ready", arguments: [Medium.tcp4, .udp6])
        func handlers(medium: Medium) async throws {
            let listener = try ListenerProbe(medium)
            try await listener.listen()
            let client = Probe(to: listener.endpoint, using: medium.parameters)
            let order = Mailbox<String>()
            client.connection.stateUpdateHandler = { order.put("\($0)") }
            client.connection.viabilityUpdateHandler = { order.put("viable \($0)") }
            client.connection.pathUpdateHandler = { path in
                order.put("path \(path.remoteEndpoint == client.connection.endpoint)")
            }
            client.start()
            try await order.expect("preparing", "ready", "path true", "viable true")
            client.connection.cancel()
            try await order.expect("cancelled")
            try await listener.cancel()
        }

        @Test(
            "TCP metadata report the bytes that were read ahead, and those that wait for room",
            arguments: Medium.streams)
        func buffers(medium: Medium) async throws {
            try await Pair.with(medium) { pair in
                let metadata = pair.client.connection.metadata(definition: NWProtocolTCP.definition)
                let tcp = try #require(metadata as? NWProtocolTCP.Metadata)
                try await pair.server.deliver(Data(count: 100))
                #expect(try await pair.client.receive(1, 1).data?.count == 1)
                #expect(await eventually { tcp.availableReceiveBuffer == 99 })
                #expect(try await pair.client.receive(4, 4).data?.count == 4)
                #expect(tcp.availableReceiveBuffer == 95)
                #expect(try await pair.client.receive(95, 1_000).data?.count == 95)
                #expect(tcp.availableReceiveBuffer == 0)
                // Send more bytes than both sides' kernel buffers can hold.
                for _ in 0..<4 { pair.client.send(Data(count: 16 << 20)) }
                #expect(tcp.availableSendBuffer > 32 << 20)
                try await pair.client.cancel()
                #expect(tcp.availableSendBuffer == 0)
            }
        }

        @Test("A connection that waits reports its path after its state", arguments: Medium.internetStreams + [.unix])
        func waitingPath(medium: Medium) async throws {
            // A bound socket that does not listen: connections to it are refused. No socket file exists.
            let holder = RawSocket(try Socket.open(medium.family, .stream))
            var endpoint = NWEndpoint.unix(path: Scratch.path())
            if let host = medium.loopback {
                try Socket.bind(holder.fd, to: medium.socketAddress(port: 0))
                endpoint = .hostPort(host: host, port: try #require(NWEndpoint.Port(rawValue: holder.port)))
            }
            let client = Probe(to: endpoint, using: medium.parameters)
            let order = Mailbox<String>()
            client.connection.stateUpdateHandler = { state in
                if case .waiting = state { order.put("waiting") }
            }
            client.connection.pathUpdateHandler = { [endpoint] path in
                order.put("path \(path.status) \(path.remoteEndpoint == endpoint)")
            }
            client.start()
            try await order.expect("waiting", "path satisfied true")
            client.connection.cancel()
        }

        @Test("TCP metadata report the bytes in the buffers")
        func tcpMetadata() async throws {
            try await Pair.with(.tcp4) { pair in
                let metadata = pair.client.connection.metadata(definition: NWProtocolTCP.definition)
                let tcp = try #require(metadata as? NWProtocolTCP.Metadata)
                #expect(tcp.availableReceiveBuffer == 0)
                try await pair.server.deliver(Data(count: 1_234))
                #expect(await eventually { tcp.availableReceiveBuffer == 1_234 })
                #expect(try await pair.client.receive(1_234, 1_234).data?.count == 1_234)
                #expect(tcp.availableReceiveBuffer == 0)
                #expect(pair.client.connection.metadata(definition: NWProtocolUDP.definition) == nil)
                #expect(pair.client.connection.metadata(definition: NWProtocolIP.definition) is NWProtocolIP.Metadata)
                try await pair.client.cancel()
                #expect(tcp.availableReceiveBuffer == 0)
                #expect(pair.client.connection.metadata(definition: NWProtocolTCP.definition) == nil)
            }
        }

        @Test("A datagram connection has UDP metadata")
        func udpMetadata() async throws {
            try await Pair.with(.udp4) { pair in
                #expect(pair.client.connection.metadata(definition: NWProtocolUDP.definition) is NWProtocolUDP.Metadata)
                #expect(pair.client.connection.metadata(definition: NWProtocolTCP.definition) == nil)
            }
        }

        @Test("The establishment report describes the attempts", arguments: [Medium.tcp4, .tcp6, .udp4])
        func establishmentReport(medium: Medium) async throws {
            let start = System.now
            try await Pair.with(medium) { pair in
                let reports = Mailbox<NWConnection.EstablishmentReport?>()
                pair.client.connection.requestEstablishmentReport(queue: pair.client.queue) { reports.put($0) }
                let report = try #require(try await reports.next())
                // The attempt is a part of this test. A fixed limit would measure how busy the machine is.
                #expect(report.duration >= 0 && Duration.seconds(report.duration) <= System.now - start)
                #expect(report.previousAttemptCount == 0 && !report.usedProxy && report.resolutions.isEmpty)
                let definition = medium.isStream ? NWProtocolTCP.definition : NWProtocolUDP.definition
                #expect(report.handshakes.map(\.definition) == [definition])
                try await pair.client.cancel()
                pair.client.connection.requestEstablishmentReport(queue: pair.client.queue) { reports.put($0) }
                #expect(try await reports.next() == nil)
            }
        }

        @Test("A transfer report counts the bytes of its duration", arguments: [Medium.tcp4, .udp4])
        func transferReport(medium: Medium) async throws {
            try await Pair.with(medium) { pair in
                try await pair.client.deliver(Data(count: 500))
                let pending = pair.client.connection.startDataTransferReport()
                try await pair.client.deliver(Data(count: 2_000))
                try await pair.server.deliver(Data(count: 300))
                #expect(try await pair.client.receive(300, 300).data?.count == 300)
                let reports = Mailbox<NWConnection.DataTransferReport>()
                pending.collect(queue: pair.client.queue) { reports.put($0) }
                pending.collect(queue: pair.client.queue) { reports.put($0) }
                let report = try await reports.next()
                #expect(report.aggregatePathReport.sentApplicationByteCount == 2_000)
                #expect(report.aggregatePathReport.receivedApplicationByteCount == 300)
                #expect(report.pathReports.count == 1 && report.duration >= 0)
                #expect(report.aggregatePathReport.interface.name == "lo")
                if medium.isStream {
                    #expect(report.aggregatePathReport.sentTransportByteCount >= 2_000)
                    #expect(report.aggregatePathReport.transportSmoothedRTT > 0)
                }
                await pair.client.settle()
                #expect(reports.history.count == 1)
            }
        }
    }
}
