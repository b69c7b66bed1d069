import CausewayTLS
import CausewayTypes
import Testing

@Suite("TLS sessions")
struct ResumptionTests {
    static let versions: [TLSVersion] = [.tls12, .tls13]

    /// Establishes a connection, and lets the client read. With TLS 1.3, this read receives the session tickets.
    private func connect(
        _ client: TLSContext, _ server: TLSContext, host: NWEndpoint.Host = "server.test", port: UInt16 = 443
    ) throws -> EnginePair {
        let pair = try EnginePair(client, server, host: host, port: port)
        pair.establish()
        _ = pair.client.readAll()
        return pair
    }

    // RFC 8446 §2.2, §4.2.11, §4.6.1.
    @Test("The second connection resumes without certificate verification", arguments: versions)
    func resumes(_ version: TLSVersion) throws {
        let client = try TLSContext(.client { $0.maximumVersion = version })
        let server = try TLSContext(.server())
        #expect(try connect(client, server).client.negotiation?.isResumed == false)
        #expect(client.sessionCount > 0)
        for _ in 0..<10 {
            let pair = try connect(client, server)
            #expect(pair.client.negotiation?.isResumed == true && pair.server.negotiation?.isResumed == true)
            #expect(pair.client.negotiation?.peerCertificates.isEmpty == false)
            #expect(try pair.transfer([1, 2], from: pair.client, to: pair.server) == [1, 2])
        }
        #expect(client.sessionCount <= 4)
    }

    // RFC 8446 §C.4.
    @Test("A ticket of TLS 1.3 is used once, a session of TLS 1.2 many times")
    func singleUse() throws {
        let server = try TLSContext(.server())
        for (version, counts) in [(TLSVersion.tls13, [1, 0, 0, 0]), (.tls12, [1, 1, 1, 1])] {
            let client = try TLSContext(.client { $0.maximumVersion = version })
            _ = try connect(client, server)
            var seen = [client.sessionCount]
            for _ in 0..<3 {
                _ = try EnginePair(client, server)
                seen.append(client.sessionCount)
            }
            #expect(seen == counts)
        }
    }

    @Test("As many connections as were open at the same time can resume at the same time, repeatedly")
    func together() throws {
        let client = try TLSContext(.client { $0.maximumVersion = .tls13 })
        let server = try TLSContext(.server())
        for isLater in [false, true, true] {
            // Start all connections before one of them is established.
            let pairs = try (0..<3).map { _ in try EnginePair(client, server) }
            for pair in pairs {
                pair.establish()
                _ = pair.client.readAll()
                #expect(pair.client.negotiation?.isResumed == isLater)
            }
            #expect(client.sessionCount == 3)
        }
    }

    @Test("A resumed session keeps both sides' certificates", arguments: versions)
    func mutual(_ version: TLSVersion) throws {
        let identity = try Identities.client.get()
        let client = try TLSContext(
            .client {
                $0.maximumVersion = version
                $0.identity = identity
            })
        let server = try TLSContext(.server { $0.peerAuthentication = .required })
        _ = try connect(client, server)
        let pair = try connect(client, server)
        #expect(pair.server.negotiation?.isResumed == true)
        #expect(pair.server.negotiation?.peerCertificates.first == identity.certificates[0])
        #expect(pair.client.negotiation?.peerCertificates.first == (try Identities.server.get().certificates[0]))
    }

    // The test also covers DTLS. There, the client's certificate and the end of the client's handshake arrive in the
    // same datagram.
    @Test(
        "A server's owner decides about each connection: a refused client has no ticket", arguments: [true, false],
        [true, false])
    func ownerDecides(_ usesDatagrams: Bool, _ isTrusted: Bool) throws {
        let identity = try Identities.client.get()
        let client = try TLSContext(
            .client {
                $0.usesDatagrams = usesDatagrams
                $0.identity = identity
            })
        let server = try TLSContext(
            .server {
                $0.usesDatagrams = usesDatagrams
                $0.peerAuthentication = .required
                $0.verifier = .owner(1)
            })
        for _ in 0..<2 {
            let pair = try EnginePair(client, server)
            pair.run()
            guard case .evaluateTrust = pair.serverProgress else {
                Issue.record("not asked: \(pair.serverProgress)")
                return
            }
            pair.server.trustEvaluated(isTrusted: isTrusted)
            pair.run()
            _ = pair.client.readAll()
            #expect(client.sessionCount == 0)
        }
    }

    @Test("Another host, port or context does not resume", arguments: versions)
    func keys(_ version: TLSVersion) throws {
        let identity = try Authority.shared.issue([.name("server.test"), .name("other.test")])
        let client = try TLSContext(.client { $0.maximumVersion = version })
        let server = try TLSContext(.server { $0.identity = identity })
        _ = try connect(client, server)
        #expect(try connect(client, server, host: "other.test").client.negotiation?.isResumed == false)
        #expect(try connect(client, server, port: 444).client.negotiation?.isResumed == false)
        let stranger = try TLSContext(.client { $0.maximumVersion = version })
        #expect(try connect(stranger, server).client.negotiation?.isResumed == false)
        #expect(try connect(client, server).client.negotiation?.isResumed == true)
    }

    @Test("Resumption must be enabled on both sides", arguments: versions, [true, false])
    func off(_ version: TLSVersion, _ isOffAtClient: Bool) throws {
        let client = try TLSContext(
            .client {
                $0.maximumVersion = version
                $0.isResumptionEnabled = !isOffAtClient
            })
        let server = try TLSContext(.server { $0.areTicketsEnabled = isOffAtClient })
        _ = try connect(client, server)
        #expect(client.sessionCount == 0)
        #expect(try connect(client, server).client.negotiation?.isResumed == false)
    }

    @Test("The number of sessions per peer, and of peers, is limited")
    func bounded() throws {
        let client = try TLSContext(.client())
        let server = try TLSContext(.server())
        for port in 1...300 as ClosedRange<UInt16> { _ = try connect(client, server, port: port) }
        #expect(client.sessionCount <= 256 * 4 && client.sessionCount >= 256)
        #expect(try connect(client, server, port: 300).client.negotiation?.isResumed == true)
        #expect(try connect(client, server, port: 1).client.negotiation?.isResumed == false)
    }

    @Test("Equal settings share a context, different ones do not")
    func sharedContexts() throws {
        let settings = TLSSettings.client { $0.applicationProtocols = ["share-test"] }
        let first = try TLSContext.shared(for: settings)
        #expect(try TLSContext.shared(for: settings) === first)
        var other = settings
        other.trust.pins = [[1]]
        #expect(try TLSContext.shared(for: other) !== first)
        other = settings
        other.verifier = .owner(7)
        #expect(try TLSContext.shared(for: other) !== first)
    }

    // MARK: Early data

    private func earlyContexts(serverTakes: Bool = true) throws -> (TLSContext, TLSContext) {
        (
            try TLSContext(.client { $0.isEarlyDataEnabled = true }),
            try TLSContext(.server { $0.isEarlyDataEnabled = serverTakes })
        )
    }

    private func sendEarly(_ text: String, _ pair: EnginePair) -> Bool {
        Array(text.utf8).withUnsafeBytes { pair.client.writeEarly($0) }
    }

    @Test("Early data arrives with the first flight of a resumed session")
    func early() throws {
        let (client, server) = try earlyContexts()
        let first = try connect(client, server)
        #expect(!sendEarly("x", first))
        let pair = try EnginePair(client, server)
        #expect(pair.client.earlyDataLimit == 16_384)
        #expect(sendEarly("GET /", pair))
        pair.establish()
        #expect(pair.client.negotiation?.isEarlyDataAccepted == true)
        #expect(pair.server.readText == "GET /")
        #expect(try pair.transfer(Array(" more".utf8), from: pair.client, to: pair.server) == Array(" more".utf8))
    }

    @Test("Early data that the server refuses is sent again, once and first")
    func earlyRefused() throws {
        let (client, server) = try earlyContexts()
        _ = try connect(client, server)
        // The server has a new context, so it does not know the session. It therefore refuses the early data.
        let stranger = try TLSContext(.server { $0.isEarlyDataEnabled = true })
        let pair = try EnginePair(client, stranger)
        #expect(sendEarly("GET /", pair))
        pair.establish()
        #expect(pair.client.negotiation?.isEarlyDataAccepted == false)
        try pair.client.write(" later")
        pair.carry(from: pair.client, to: pair.server)
        #expect(pair.server.readText == "GET / later")
    }

    // RFC 8446 §8.1.
    @Test("A replayed first flight delivers no early data twice")
    func replay() throws {
        let (client, server) = try earlyContexts()
        _ = try connect(client, server)
        let pair = try EnginePair(client, server)
        #expect(sendEarly("pay", pair))
        _ = pair.client.handshake()
        var flight: [UInt8] = []
        pair.client.sendCiphertext { bytes in
            flight += bytes
            return bytes.count
        }
        pair.hand(flight, to: pair.server)
        let second = try EnginePair(client, server)
        second.hand(flight, to: second.server)
        second.server.ciphertextEnded()
        #expect(second.server.readAll().bytes.isEmpty)
    }

    @Test("No early data is accepted after the first flight")
    func tooLate() throws {
        let (client, server) = try earlyContexts()
        _ = try connect(client, server)
        let pair = try EnginePair(client, server)
        #expect(pair.client.earlyDataLimit > 0)
        _ = pair.client.handshake()
        #expect(pair.client.earlyDataLimit == 0 && !sendEarly("x", pair))
        pair.establish()
    }

    // RFC 8446 §4.2.10.
    @Test("Early data above the limit is not accepted")
    func earlyLimit() throws {
        let (client, server) = try earlyContexts()
        _ = try connect(client, server)
        let pair = try EnginePair(client, server)
        #expect(!sendEarly(String(repeating: "x", count: 16_385), pair))
        pair.establish()
        let (plainClient, plainServer) = try earlyContexts(serverTakes: false)
        _ = try connect(plainClient, plainServer)
        #expect(try EnginePair(plainClient, plainServer).client.earlyDataLimit == 0)
    }
}
