// Test programs for Apple's structured interface of 2025. They are compiled in Swift 6 mode and in Swift 5 mode.
import Network
import Testing

private enum Move: Codable, Sendable {
    case join(String)
    case leave
}

private func talk(to endpoint: NWEndpoint) async throws {
    let connection = NetworkConnection(to: endpoint) {
        TLS {
            TCP {
                IP().fragmentationDisabled(true)
            }
            .noDelay(true)
        }
        .applicationProtocols(["echo"])
    }
    .onStateUpdate { _, state in print(state) }
    try await connection.send(Data("hello".utf8))
    try await connection.send(UInt32(7), endOfStream: true)
    let message = try await connection.receive(exactly: 98)
    print(message.content.count, message.metadata.endOfStream)
    let length = try await connection.receive(as: UInt32.self).content
    print(try await connection.receive(atLeast: 1, atMost: Int(length)).content)
}

private func exchange(with endpoint: NWEndpoint) async throws {
    let records = NetworkConnection(to: endpoint) { TLV { TLS() } }
    try await records.send(Data([1]), type: 7)
    let (content, metadata) = try await records.receive()
    print(content, metadata.type)
    let moves = NetworkConnection(to: endpoint) { Coder(Move.self, using: .json) { TLS() } }
    try await moves.send(Move.join("me"))
    switch try await moves.receive().content {
    case .join(let name): print(name)
    case .leave: break
    }
    for try await (move, _) in moves.messages { print(move) }
    let chat = NetworkConnection(to: endpoint) { WebSocket { TLS() } }
    try await chat.send("hello")
    try await chat.close()
    let datagrams = NetworkConnection(to: endpoint, using: .parameters { UDP() }.localPort(9))
    try await datagrams.send(Data([1]))
    print(try await datagrams.receive().content)
}

private func serve() async throws {
    let listener = try NetworkListener(
        for: .bonjour(type: "_echo._tcp"), using: .parameters { TLS() }.peerToPeerIncluded(true))
    try await listener.run { connection in
        for try await byte in AsyncStream<UInt8>(unfolding: { nil }) { print(byte) }
        try await connection.send(Data([1]))
    }
}

private func browse() async throws -> Bonjour.Endpoint {
    try await NetworkBrowser(for: .bonjour("_echo._tcp")).run { endpoints in
        if let endpoint = endpoints.first { return .finish(endpoint) }
        return .continue
    }
}

private func tunnel(to endpoint: NWEndpoint) async throws {
    let connection = NetworkConnection(to: endpoint) { QUIC(alpn: ["echo"]).idleTimeout(30_000) }
    let stream = try await connection.openStream()
    try await stream.send(Data([1]), endOfStream: true)
    let typed = try await connection.openStream { stream in Coder(Move.self, using: .json) { stream } }
    try await typed.send(.leave)
    try await connection.inboundStreams { stream in print(try await stream.receive(exactly: 1).content) }
    try await connection.datagrams.send(Data([1]))
}

@Suite("Programs of the structured interface")
struct StructuredProgramTests {
    private let endpoint = NWEndpoint.hostPort(host: "127.0.0.1", port: 9)

    @Test("They compile, and each receives the error for what is not possible")
    func errors() async {
        let endpoint = endpoint
        await #expect(throws: NWError.posix(.ENOTSUP)) { try await tunnel(to: endpoint) }
        // Nothing listens or advertises at these endpoints, so the calls keep waiting.
        let programs: [@Sendable () async throws -> Void] = [
            { try await talk(to: endpoint) }, { try await exchange(with: endpoint) }, { _ = try await browse() },
            {
                try await withNetworkConnection(to: endpoint) {
                    TCP()
                } _: {
                    _ = try await $0.receive(exactly: 1)
                }
            },
        ]
        for program in programs {
            let task = Task { try await program() }
            task.cancel()
            await #expect(throws: NWError.self) { try await task.value }
        }
        // Without a certificate, the TLS server fails before it advertises its service.
        let server = Task { try await serve() }
        server.cancel()
        await #expect(throws: NWError.self) { try await server.value }
    }
}
