import CausewaySystem
import CausewayTypes
import Foundation
import Testing

@testable import Causeway

extension Loopback {
    /// Tests datagrams through a SOCKS 5 proxy. The test itself acts as the proxy, with raw sockets.
    @Suite("Datagrams through a SOCKS 5 proxy")
    struct RelayTests {
        private static let name = NWEndpoint.hostPort(host: "inner.test", port: 7_007)
        /// The SOCKS header that each datagram carries between the client and the proxy. It names the destination.
        private static let header = Data([0, 0, 0, 3, 10]) + Data("inner.test".utf8) + Data([0x1B, 0x5F])

        /// A proxy with two sockets: one for its control connections, and one for the datagrams of clients.
        private struct Proxy {
            let control: RawSocket
            let relay: RawSocket
            let isIPv6: Bool

            init(isIPv6: Bool = false) throws {
                self.isIPv6 = isIPv6
                control = try RawSocket.listening(isIPv6 ? .tcp6 : .tcp4)
                relay = try RawSocket.bound(isIPv6 ? .udp6 : .udp4)
            }

            var configuration: ProxyConfiguration {
                let host: NWEndpoint.Host = isIPv6 ? .ipv6(.loopback) : .ipv4(.loopback)
                return ProxyConfiguration(
                    socksv5Proxy: .hostPort(host: host, port: NWEndpoint.Port(integerLiteral: control.port)))
            }

            /// Acts as a SOCKS proxy: accepts a client and its request for a UDP association. If the reply contains an
            /// address of zeros, it means the proxy's own address.
            func associate(at place: [UInt8]? = nil) async throws -> RawSocket {
                let client = try await control.accept()
                #expect(try await client.read() == Data([5, 1, 0]))
                try await client.write(Data([5, 0]))
                let zeros = [UInt8](repeating: 0, count: isIPv6 ? 16 : 4)
                let kind: UInt8 = isIPv6 ? 4 : 1
                #expect(try await client.read() == Data([5, 3, 0, kind] + zeros + [0, 0]))
                let port = [UInt8(relay.port >> 8), UInt8(truncatingIfNeeded: relay.port)]
                try await client.write(Data([5, 0, 0] + (place ?? [kind] + zeros) + port))
                return client
            }

            /// Changes the destination of the sent datagrams. From now on, they go to this client.
            func answer(_ client: Probe) throws {
                let path = try #require(client.connection.currentPath)
                guard case .hostPort(let host, let port) = path.localEndpoint else { throw CancellationError() }
                let address: SocketAddress
                switch host {
                case .ipv4(let own): address = SocketAddress(own, port: port.rawValue)
                case .ipv6(let own): address = SocketAddress(own, port: port.rawValue)
                case .name: throw CancellationError()
                }
                _ = try Socket.connect(relay.fd, to: address)
            }
        }

        private static func parameters(_ proxies: [ProxyConfiguration]) -> NWParameters {
            let context = NWParameters.PrivacyContext(description: "relays")
            context.proxyConfigurations = proxies
            let parameters = NWParameters.udp
            parameters.setPrivacyContext(context)
            return parameters
        }

        private static func client(_ proxies: [ProxyConfiguration], to endpoint: NWEndpoint = name) -> Probe {
            Backend.choose()
            return Probe(to: endpoint, using: parameters(proxies)).start()
        }

        @Test(
            "Each datagram has the header in both directions, and the proxy receives the name",
            arguments: [false, true])
        func exchange(isIPv6: Bool) async throws {
            let proxy = try Proxy(isIPv6: isIPv6)
            let client = Self.client([proxy.configuration])
            let control = try await proxy.associate()
            try await client.ready()
            for content in [Data("question"), Data(), Data(repeating: 7, count: 8_000)] {
                try await client.deliver(content)
                #expect(try await proxy.relay.read() == Self.header + content)
            }
            try proxy.answer(client)
            // Send datagrams that the connection must drop: fragments, datagrams from another port, and invalid
            // datagrams.
            for junk in [Data([0, 0, 1]) + Self.header.dropFirst(3), Self.header.dropLast() + Data([0]), Data([0])] {
                try await proxy.relay.write(junk + Data("junk"))
            }
            for content in [Data("answer"), Data(repeating: 9, count: 8_000)] {
                try await proxy.relay.write(Self.header + content)
                #expect(try await client.receiveMessage().data == content)
            }
            let reports = Mailbox<NWConnection.EstablishmentReport?>()
            client.connection.requestEstablishmentReport(queue: client.queue) { reports.put($0) }
            let report = try #require(try await reports.next())
            #expect(report.usedProxy && report.proxyConfigured && report.proxyEndpoint != nil)
            #expect(report.previousAttemptCount == 0)
            // The expected size is the maximum datagram size on loopback, minus the proxy's header.
            let plain = isIPv6 ? 65_536 - 48 : 65_535 - 28
            #expect(client.connection.maximumDatagramSize == plain - Self.header.count)
            try await client.cancel()
            #expect(try await control.read().isEmpty)
        }

        @Test("Invalid datagrams and control data from the relay neither hide content nor change the peer")
        func flood() async throws {
            let proxy = try Proxy()
            let client = Self.client([proxy.configuration], to: .hostPort(host: "192.0.2.7", port: 7_007))
            let control = try await proxy.associate()
            try await client.ready()
            try proxy.answer(client)
            let own = Data([0, 0, 0, 1, 192, 0, 2, 7, 0x1B, 0x5F])
            let foreign = [
                Data([0, 0, 0, 1, 192, 0, 2, 8, 0x1B, 0x5F]), Data([0, 0, 0, 1, 192, 0, 2, 7, 0x1B, 0x60]),
                Data([0, 0, 7, 1, 192, 0, 2, 7, 0x1B, 0x5F]), Data([0, 0, 0, 9, 192, 0, 2, 7, 0x1B, 0x5F]),
                Data([0, 0, 0, 3, 255]), Data(),
            ]
            for round in 0..<200 {
                for header in foreign { try await proxy.relay.write(header + Data(repeating: 6, count: 1_000)) }
                // Bytes on the control connection have no meaning. The client must not buffer them.
                try await control.write(Data(repeating: 5, count: 10_000))
                try await proxy.relay.write(own + Data("\(round)"))
                #expect(try await client.receiveMessage().data == Data("\(round)"))
            }
            try await client.deliver(Data("question"))
            #expect(try await proxy.relay.read() == own + Data("question"))
            try await client.cancel()
            withExtendedLifetime(control) {}
        }

        @Test(
            "A proxy that stalls at any point is left for the next one, never for the direct connection",
            arguments: 0..<3)
        func stalls(step: Int) async throws {
            let server = try RawSocket.bound(.udp4)
            let endpoint = NWEndpoint.hostPort(
                host: .ipv4(.loopback), port: NWEndpoint.Port(integerLiteral: server.port))
            let (silent, whole) = (try Proxy(), try Proxy())
            let context = NWParameters.PrivacyContext(description: "stalls")
            context.proxyConfigurations = [silent.configuration, whole.configuration]
            let parameters = NWParameters.udp
            parameters.setPrivacyContext(context)
            Backend.choose()
            let client = Probe(to: endpoint, using: parameters).start()
            let stalled = try await silent.control.accept()
            if step > 0 {
                _ = try await stalled.read()
                // Send an incomplete reply. The client must keep waiting, because it cannot use a part of a reply.
                try await stalled.write(Data([5] + (step > 1 ? [0] : [])))
                if step > 1 {
                    _ = try await stalled.read()
                    try await stalled.write(Data([5, 0, 0, 1, 127]))
                }
            }
            client.connection.cancelCurrentEndpoint()
            let control = try await whole.associate()
            try await client.ready()
            try await client.deliver(Data("question"))
            #expect(try await whole.relay.read().suffix(8) == Data("question"))
            #expect(Socket.bytesReadable(server.fd) == 0)
            // The client may have left this proxy before it had read the incomplete reply.
            try await stalled.readUntilClosed()
            try await client.cancel()
            withExtendedLifetime(control) {}
        }

        @Test("The end of the control connection, by a reset or an orderly close, ends the connection")
        func end() async throws {
            for isReset in [false, true] {
                let proxy = try Proxy()
                let client = Self.client([proxy.configuration])
                let control = try await proxy.associate()
                try await client.ready()
                let answer = client.requestMessage()
                if isReset { control.reset() } else { control.close() }
                #expect(try await answer.next().error == .posix(.ECONNRESET))
                try await client.states.first { $0 == .failed(.posix(.ECONNRESET)) }
                try await client.cancel()
            }
        }

        @Test("A correct and a wrong password", arguments: [true, false])
        func credential(isRight: Bool) async throws {
            let proxy = try Proxy()
            let configuration = proxy.configuration
            configuration.applyCredential(username: "me", password: "pw")
            let client = Self.client([configuration])
            let control = try await proxy.control.accept()
            #expect(try await control.read() == Data([5, 2, 0, 2]))
            try await control.write(Data([5, 2]))
            #expect(try await control.read() == Data([1, 2, 0x6D, 0x65, 2, 0x70, 0x77]))
            try await control.write(Data([1, isRight ? 0 : 1]))
            guard isRight else {
                try await client.states.first { $0 == .waiting(.posix(.EACCES)) }
                #expect(try await control.read().isEmpty)
                return try await client.cancel()
            }
            #expect(try await control.read().count == 10)
            let port = [UInt8(proxy.relay.port >> 8), UInt8(truncatingIfNeeded: proxy.relay.port)]
            try await control.write(Data([5, 0, 0, 1, 127, 0, 0, 1] + port))
            try await client.ready()
            try await client.deliver(Data("question"))
            #expect(try await proxy.relay.read() == Self.header + Data("question"))
            try await client.cancel()
            withExtendedLifetime(control) {}
        }

        @Test(
            "After a proxy without a relay, or with an invalid relay address, the next one is used, never the direct connection"
        )
        func next() async throws {
            let server = try RawSocket.bound(.udp4)
            let endpoint = NWEndpoint.hostPort(
                host: .ipv4(.loopback), port: NWEndpoint.Port(integerLiteral: server.port))
            for place in [[1, 224, 0, 0, 1] as [UInt8], nil] {
                let (broken, whole) = (try Proxy(), try Proxy())
                let client = Self.client([broken.configuration, whole.configuration], to: endpoint)
                if let place {
                    _ = try await broken.associate(at: place)
                } else {
                    let control = try await broken.control.accept()
                    _ = try await control.read()
                    try await control.write(Data([5, 0]))
                    _ = try await control.read()
                    try await control.write(Data([5, 7, 0, 1, 0, 0, 0, 0, 0, 0]))
                }
                let control = try await whole.associate()
                try await client.ready()
                try await client.deliver(Data("question"))
                #expect(try await whole.relay.read().suffix(8) == Data("question"))
                try await client.cancel()
                #expect(try await control.read().isEmpty)
            }
            #expect(Socket.bytesReadable(server.fd) == 0)
        }

        @Test(
            "HTTP proxies carry no datagrams: the connection fails, unless the direct connection is allowed",
            arguments: [false, true])
        func tunnels(mayGoDirect: Bool) async throws {
            let server = try RawSocket.bound(.udp4)
            var http = ProxyConfiguration(httpCONNECTProxy: .hostPort(host: "192.0.2.1", port: 1))
            http.allowFailover = mayGoDirect
            let endpoint = NWEndpoint.hostPort(
                host: .ipv4(.loopback), port: NWEndpoint.Port(integerLiteral: server.port))
            let client = Self.client([http], to: endpoint)
            guard mayGoDirect else {
                return try await client.states.expect(.failed(.posix(.ENOTSUP)))
            }
            try await client.ready()
            try await client.deliver(Data("question"))
            #expect(try await server.read() == Data("question"))
            try await client.cancel()
        }

        @Test("Cancelling at any moment of the association ends the control connection", arguments: 0..<3)
        func cancelled(step: Int) async throws {
            let proxy = try Proxy()
            let client = Self.client([proxy.configuration])
            let control = try await proxy.control.accept()
            if step > 0 { _ = try await control.read() }
            if step > 1 {
                try await control.write(Data([5, 0]))
                _ = try await control.read()
            }
            try await client.cancel()
            while !(try await control.read().isEmpty) {}
        }
    }
}
