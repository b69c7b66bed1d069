import CausewaySystem
import Foundation
import Testing

@testable import Causeway

@Suite("Connections, listeners and browsers of the structured interface")
struct StructuredTests {
    private let endpoint = NWEndpoint.hostPort(host: "127.0.0.1", port: 9)

    /// A protocol element of an unknown type, which no stack supports.
    private struct Unknown: MessageProtocol, StreamProtocol {
        typealias BelowProtocol = Void
        typealias LegacyMessage = Void
        typealias ContentType = Void
        struct Metadata: NetworkMetadataProtocol {}
    }

    @Test("The first operation fails an invalid connection, which is reported once")
    func failing() async {
        let states = LockedValue<[NetworkChannel<Unknown>.State]>([])
        let connection = NetworkConnection(to: endpoint) { Unknown() }.onStateUpdate { _, state in
            states.withLock { $0.append(state) }
        }
        #expect(connection.state == .setup)
        #expect(connection.remoteEndpoint == endpoint)
        await #expect(throws: NWError.posix(.ENOTSUP)) { try await connection.send(Data([1])) }
        await #expect(throws: NWError.posix(.ENOTSUP)) { try await connection.receive(atMost: 9) }
        await #expect(throws: NWError.posix(.ENOTSUP)) { try await connection.establishmentReport() }
        await #expect(throws: NWError.posix(.ENOTSUP)) {
            for try await _ in connection.messages { Issue.record("no message can arrive") }
        }
        #expect(connection.state == .failed(.posix(.ENOTSUP)))
        #expect(connection.maximumDatagramSize == 0 && connection.currentPath == nil)
        #expect(connection.metadata(definition: NWProtocolTCP.definition) == nil)
        await connection.end()
        #expect(states.withLock { $0 } == [.failed(.posix(.ENOTSUP)), .cancelled])
    }

    @Test("Content sent without waiting starts the connection too")
    func idempotent() async {
        let (states, feed) = AsyncStream.makeStream(of: NetworkChannel<Unknown>.State.self)
        let connection = NetworkConnection(to: endpoint, using: .parameters { Unknown() })
        connection.onStateUpdate { _, state in feed.yield(state) }
        connection.sendIdempotent(Data([1]))
        #expect(await states.first { _ in true } == .failed(.posix(.ENOTSUP)))
    }

    @Test("A ping that an idempotent send cannot send reaches its pong handler")
    func unsentPing() async {
        let connection = NetworkConnection(to: endpoint) { WebSocket { TCP() } }
        await connection.end()
        let error = await withCheckedContinuation { (done: CheckedContinuation<NWError?, Never>) in
            let ping = NWProtocolWebSocket.Metadata(opcode: .ping)
            ping.setPongHandler(.global()) { done.resume(returning: $0) }
            connection.sendIdempotent(Data("?".utf8)) { ping }
        }
        #expect(error == .posix(.ECANCELED))
    }

    @Test("A scope always ends its connection, whether or not it was used")
    func scope() async throws {
        let kept = LockedValue<NetworkConnection<TCP>?>(nil)
        let states = LockedValue<[NetworkChannel<TCP>.State]>([])
        try await withNetworkConnection(to: endpoint) {
            TCP()
        } _: { connection in
            connection.onStateUpdate { _, state in states.withLock { $0.append(state) } }
            kept.withLock { $0 = connection }
        }
        #expect(states.withLock { $0 } == [.cancelled])
        let connection = try #require(kept.withLock { $0 })
        await #expect(throws: NWError.posix(.ECANCELED)) { try await connection.send(Data([1])) }
        #expect(connection.state == .cancelled)
    }

    @Test("An unknown kind of connectable fails")
    func unknownConnectable() async {
        struct Nowhere: Connectable {}
        let connection = NetworkConnection(to: Nowhere()) { TCP() }
        #expect(connection.remoteEndpoint == nil)
        await #expect(throws: NWError.posix(.EINVAL)) { try await connection.receive(exactly: 1) }
    }

    @Test("Channels have generated names, and equal only themselves")
    func identity() {
        let one = NetworkConnection(to: endpoint) { TCP() }
        let two = NetworkConnection(to: endpoint) { TCP() }
        #expect(one.id != two.id)
        #expect(one == one && one != two)
        #expect(Set([one, two, one]).count == 2)
        #expect(one.debugDescription.contains("tcp, ip"))
    }

    @Test("A tunnel fails when it is started, and keeps its earlier settings")
    func tunnel() async {
        let (states, feed) = AsyncStream.makeStream(of: NetworkChannel<QUIC>.State.self)
        let connection = NetworkConnection(to: endpoint) { QUIC(alpn: ["h3"]) }
        connection.onStateUpdate { _, state in feed.yield(state) }
        connection.applicationError = 7
        connection.keepalive = .seconds(5)
        #expect(connection.start() === connection)
        #expect(await states.first { _ in true } == .failed(.posix(.ENOTSUP)))
        #expect(connection.applicationError.code == 7 && connection.negotiatedALPN == nil)
        await #expect(throws: NWError.posix(.ENOTSUP)) { try await connection.datagrams }
        await #expect(throws: NWError.posix(.ENOTSUP)) { try await connection.openStream() }
    }

    static let streams: [(UInt64, QUICStream.Directionality, QUICStream.Initiator)] = [
        (0, .bidirectional, .client), (1, .bidirectional, .server), (2, .unidirectional, .client),
        (3, .unidirectional, .server), (4, .bidirectional, .client), (.max, .unidirectional, .server),
    ]

    @Test("A stream's number determines its kind", arguments: streams)
    func streamKinds(number: UInt64, directionality: QUICStream.Directionality, initiator: QUICStream.Initiator) {
        let metadata = NWProtocolQUIC.Metadata(values: .init(), securityProtocolMetadata: sec_protocol_metadata_t())
        metadata.update { $0.streamIdentifier = number }
        let parent = NetworkConnection(to: endpoint) { QUIC(alpn: ["h3"]) }
        let stream = QUIC.Stream<QUICStream>(parent: parent, metadata: metadata)
        #expect(stream.streamID == number && stream.parent === parent)
        #expect(stream.directionality == directionality && stream.initiator == initiator)
        stream.streamApplicationErrorCode = 3
        #expect(metadata.streamApplicationErrorCode == 3)
    }

    @Test("A listener keeps its settings; an invalid one fails once when it runs")
    func listener() async throws {
        let states = LockedValue<[NetworkListener<QUIC>.State]>([])
        let record = NWTXTRecord(["a": "1"])
        let listener = try NetworkListener(for: .bonjour(type: "_echo._tcp", txtRecord: record)) { QUIC(alpn: ["a"]) }
            .newConnectionLimit(3)
            .onStateUpdate { _, state in states.withLock { $0.append(state) } }
        #expect(listener.newConnectionLimit == 3 && listener.port == nil)
        #expect(listener.service?.txtRecordObject == record)
        listener.service = nil
        #expect(listener.service == nil)
        for error in [NWError.posix(.ENOTSUP), .posix(.EALREADY)] {
            await #expect(throws: error) {
                try await listener.run { _ in Issue.record("no connection can arrive") }
            }
        }
        #expect(states.withLock { $0 } == [.failed(.posix(.ENOTSUP))])
    }

    @Test("A browser for an invalid type fails when it runs, in both forms, and runs once")
    func browser() async {
        let states = LockedValue<[NetworkBrowser<Bonjour>.State]>([])
        let mistake = NWError.dns(DNSServiceErrorType(kDNSServiceErr_BadParam))
        for answersWithValue in [false, true] {
            let browser = NetworkBrowser(for: .bonjour("echo", includeTxtRecord: true)).onStateUpdate { _, state in
                states.withLock { $0.append(state) }
            }
            await #expect(throws: mistake) {
                if answersWithValue {
                    let _: Int = try await browser.run { endpoints in endpoints.isEmpty ? .continue : .finish(1) }
                } else {
                    try await browser.run { _ in }
                }
            }
            await #expect(throws: NWError.posix(.EALREADY)) { try await browser.run { _ in } }
            guard case .bonjourWithTXTRecord("echo", nil) = browser.provider.descriptor else {
                Issue.record("\(browser.provider.descriptor)")
                return
            }
        }
        #expect(states.withLock { $0 } == [.failed(mistake), .failed(mistake)])
    }

    @Test("A browser with a custom provider fails")
    func foreignBrowser() async {
        struct Foreign: BrowserProvider {
            struct Endpoint: Connectable {}
        }
        await #expect(throws: NWError.posix(.ENOTSUP)) { try await NetworkBrowser(for: Foreign()).run { _ in } }
    }

    @Test("A found service has its parts, and can be connected to")
    func found() throws {
        let service = NWEndpoint.service(name: "Echo", type: "_echo._tcp", domain: "local.", interface: nil)
        let record = NWTXTRecord(["a": "1"])
        let found = try Bonjour.Endpoint(.init(endpoint: service, interfaces: [], metadata: .bonjour(record)))
        #expect(found.name == "Echo" && found.type == "_echo._tcp" && found.domain == "local.")
        #expect(found.txtRecord == record && found.nwEndpoint == service)
        #expect(found.id == (try Bonjour.Endpoint(.init(endpoint: service, interfaces: [], metadata: .none))).id)
        #expect(NetworkConnection(to: found) { TCP() }.remoteEndpoint == service)
        #expect(throws: UnexpectedEndpointType.self) {
            try Bonjour.Endpoint(.init(endpoint: endpoint, interfaces: [], metadata: .none))
        }
    }
}
