import CausewayTLS
import CausewayTypes
import Testing

@Suite("TLS handshake")
struct HandshakeTests {
    static let versions: [TLSVersion] = [.tls12, .tls13]

    @Test("Two engines complete a handshake and exchange data", arguments: versions)
    func talk(_ version: TLSVersion) throws {
        let pair = try EnginePair(.client { $0.maximumVersion = version }, .server())
        #expect(pair.client.negotiation == nil)
        pair.establish()
        try pair.client.write("ping")
        pair.carry(from: pair.client, to: pair.server)
        #expect(pair.server.readText == "ping")
        try pair.server.write("pong")
        pair.carry(from: pair.server, to: pair.client)
        #expect(pair.client.readText == "pong")
        let negotiation = try #require(pair.client.negotiation)
        #expect(negotiation.version == version)
        #expect(negotiation.peerCertificates.first == (try Identities.server.get().certificates[0]))
        #expect(pair.server.negotiation?.serverName == "server.test")
        #expect(!negotiation.isResumed)
    }

    @Test("Byte by byte", arguments: versions)
    func drip(_ version: TLSVersion) throws {
        let pair = try EnginePair(.client { $0.maximumVersion = version }, .server())
        pair.cut = { _ in 1 }
        pair.establish()
        #expect(try pair.transfer(Array("hello".utf8), from: pair.client, to: pair.server) == Array("hello".utf8))
    }

    @Test("No server name is sent for an address")
    func address() throws {
        let identity = try Authority.shared.issue([.address([127, 0, 0, 1])])
        let pair = try EnginePair(.client(), .server { $0.identity = identity }, host: "127.0.0.1")
        pair.establish()
        #expect(pair.server.negotiation != nil && pair.server.negotiation?.serverName == nil)
    }

    struct TrustRow: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let host: NWEndpoint.Host
        let rule: TrustFailure.Rule
        let alert: UInt8
        let identity: @Sendable () throws -> TLSIdentity
    }

    static let refused = [
        TrustRow(testDescription: "wrong name", host: "other.test", rule: .nameMismatch, alert: 42) {
            try Identities.server.get()
        },
        TrustRow(testDescription: "expired", host: "server.test", rule: .expired, alert: 45) {
            try Authority.shared.issue { $0.notAfter = Authority.now - 1 }
        },
        TrustRow(testDescription: "unknown root", host: "server.test", rule: .unknownIssuer, alert: 48) {
            try Authority("Unknown").issue()
        },
    ]

    @Test("A client refuses a certificate at once, and both ends report the reason", arguments: refused)
    func refusal(_ row: TrustRow) throws {
        for version in Self.versions {
            let identity = try row.identity()
            let pair = try EnginePair(
                .client { $0.maximumVersion = version }, .server { $0.identity = identity }, host: row.host)
            pair.run()
            guard case .untrusted(let failure) = pair.clientFailure?.code else {
                Issue.record("accepted: \(pair.clientProgress)")
                continue
            }
            #expect(failure.rule == row.rule && pair.clientFailure?.status == failure.status)
            // In TLS 1.3, the server completes the handshake before the client's alert can arrive. The server sees the
            // alert when it reads.
            let told: TLSFailure.Code? =
                if case .failed(let failure) = pair.server.readAll().end { failure.code } else {
                    pair.serverFailure?.code
                }
            #expect(told == .alert(row.alert))
            #expect(throws: TLSFailure.self) { try pair.client.write("secret") }
        }
    }

    @Test("Without authentication every certificate is accepted")
    func unauthenticated() throws {
        let stranger = try Authority("Unknown").issue()
        let pair = try EnginePair(.client { $0.peerAuthentication = .none }, .server { $0.identity = stranger })
        pair.establish()
        #expect(pair.client.negotiation?.peerCertificates.first == stranger.certificates[0])
    }

    @Test("Application protocols")
    func applicationProtocols() throws {
        func agree(_ client: [String], _ server: [String]) throws -> EnginePair {
            let pair = try EnginePair(
                .client { $0.applicationProtocols = client }, .server { $0.applicationProtocols = server })
            pair.run()
            return pair
        }
        let both = try agree(["h2", "http/1.1"], ["http/1.1", "h2"])
        #expect(both.client.negotiation?.applicationProtocol == "http/1.1")
        #expect(both.server.negotiation?.applicationProtocol == "http/1.1")
        let silent = try agree(["h2"], [])
        #expect(silent.isEstablished && silent.client.negotiation?.applicationProtocol == nil)
        let none = try agree(["h2"], ["smtp"])
        #expect(none.serverFailure?.code == .applicationProtocol)
        #expect(none.clientFailure?.code == .alert(120) && none.clientFailure?.status == errSSLNegotiation)
    }

    // RFC 8446 §4.2.1.
    @Test("Versions without overlap")
    func disjointVersions() throws {
        let pair = try EnginePair(.client { $0.maximumVersion = .tls12 }, .server { $0.minimumVersion = .tls13 })
        pair.run()
        #expect(pair.serverFailure?.code == .version)
        #expect(pair.clientFailure?.status == errSSLPeerProtocolVersion)
    }

    @Test("Old versions must be enabled on both sides", arguments: [TLSVersion.tls10, .tls11])
    func oldVersions(_ version: TLSVersion) throws {
        let asked = try EnginePair(
            .client { $0.minimumVersion = version },
            .server {
                $0.minimumVersion = version
                $0.maximumVersion = version
            })
        asked.establish()
        #expect(asked.client.negotiation?.version == version)
        let unasked = try EnginePair(.client(), .server { $0.maximumVersion = version })
        unasked.run()
        #expect(!unasked.isEstablished && unasked.clientFailure != nil)
    }

    // RFC 8446 §4.2.7, §B.4.
    @Test("Suites and groups are the requested ones")
    func suites() throws {
        let pair = try EnginePair(.client { $0.cipherSuites = [0xcca9] }, .server())
        pair.establish()
        #expect(pair.client.negotiation?.cipherSuite == 0xcca9 && pair.client.negotiation?.version == .tls12)
        let group = try EnginePair(.client { $0.groups = [24] }, .server())
        group.establish()
        #expect(group.client.negotiation?.group == 24 && group.server.negotiation?.group == 24)
        let modern = try EnginePair(.client { $0.cipherSuites = [0x1302] }, .server())
        modern.establish()
        #expect(modern.client.negotiation?.cipherSuite == 0x1302 && modern.client.negotiation?.version == .tls13)
        #expect(modern.client.negotiation?.group == 29)
    }

    @Test("Finite-field groups are used only if the program requests them", arguments: [256, 257, 258] as [UInt16])
    func finiteFields(_ number: UInt16) throws {
        let unasked = try EnginePair(.client { $0.groups = [number] }, .server())
        unasked.run()
        #expect(unasked.serverFailure?.code == .negotiation)
        let asked = try EnginePair(.client { $0.groups = [number] }, .server { $0.groups = [29, number] })
        asked.establish()
        #expect(asked.server.negotiation?.group == number)
        // A client does not accept these groups from a server that supports no others.
        let server = try EnginePair(.client(), .server { $0.groups = [number] })
        server.run()
        #expect(!server.isEstablished)
    }

    @Test(
        "The defaults require forward secrecy and authenticated encryption",
        arguments: [
            [0x009c, 0x002f, 0x003c, 0x000a], [0xc013, 0xc027, 0xc009, 0xc023],
        ] as [[UInt16]])
    func weakSuites(_ suites: [UInt16]) throws {
        let identity = try Authority.shared.issue { $0.keyKind = .rsa(bits: 2_048) }
        let pair = try EnginePair(.client { $0.cipherSuites = suites }, .server { $0.identity = identity })
        pair.run()
        #expect(pair.serverFailure?.code == .negotiation && pair.clientFailure?.status == errSSLPeerHandshakeFail)
    }

    @Test(
        "Invalid settings",
        arguments: [
            { $0.minimumVersion = .dtls12 },
            {
                $0.minimumVersion = .tls13; $0.maximumVersion = .tls12
            },
            { $0.cipherSuites = [0xffff] }, { $0.groups = [9_999] }, { $0.applicationProtocols = [""] },
            { $0.preSharedKeys = [.init(key: [], identity: [1])] },
            { $0.preSharedKeys = [.init(key: [1], identity: Array(repeating: 1, count: 129))] },
            {
                $0.minimumVersion = .tls13; $0.preSharedKeys = [.init(key: [1], identity: [0])]
            },
        ] as [@Sendable (inout TLSSettings) -> Void])
    func badSettings(_ adjust: @Sendable (inout TLSSettings) -> Void) throws {
        #expect(throws: TLSFailure.self) { _ = try TLSContext(.client(adjust)) }
        #expect(throws: TLSFailure.self) { _ = try TLSContext(TLSSettings(.server)) }
    }

    @Test(
        "A peer that does not speak TLS",
        arguments: ["GET / HTTP/1.1\r\n\r\n", "\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}", "SSH-2.0-x\r\n"])
    func nonsense(_ text: String) throws {
        let pair = try EnginePair(.client(), .server())
        pair.clientProgress = pair.client.handshake()
        pair.hand(Array(text.utf8), to: pair.client)
        pair.hand(Array(text.utf8), to: pair.server)
        #expect(pair.clientFailure != nil && pair.serverFailure != nil)
    }

    // RFC 8446 §7.5.
    @Test("Key log and exporter", arguments: versions)
    func secrets(_ version: TLSVersion) throws {
        let pair = try EnginePair(
            .client {
                $0.maximumVersion = version
                $0.logsKeys = true
            }, .server())
        var lines: [String] = []
        pair.client.keyLog = { lines.append($0) }
        pair.establish()
        #expect(lines.contains { $0.hasPrefix(version == .tls12 ? "CLIENT_RANDOM " : "CLIENT_TRAFFIC_SECRET_0 ") })
        let secret = pair.client.exportSecret(label: "EXPORTER-test", context: nil, count: 32)
        #expect(
            secret?.count == 32 && secret == pair.server.exportSecret(label: "EXPORTER-test", context: nil, count: 32))
        let other = pair.client.exportSecret(label: "EXPORTER-test", context: [1], count: 32)
        #expect(other != secret && other == pair.server.exportSecret(label: "EXPORTER-test", context: [1], count: 32))
        #expect(pair.client.exportSecret(label: "x", context: nil, count: 0) == nil)
    }
}
