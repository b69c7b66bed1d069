import CausewayTLS
import CausewayTypes
import Testing

@Suite("Authentication")
struct AuthenticationTests {
    static let versions: [TLSVersion] = [.tls12, .tls13]

    /// Returns the error with which the server's TLS connection ended, in the handshake or while reading.
    private func outcome(_ pair: EnginePair) -> TLSFailure? {
        if let failure = pair.serverFailure { return failure }
        if case .failed(let failure) = pair.server.readAll().end { return failure }
        return nil
    }

    /// Returns the client's final error.
    private func clientOutcome(_ pair: EnginePair) -> TLSFailure? {
        if let failure = pair.clientFailure { return failure }
        if case .failed(let failure) = pair.client.readAll().end { return failure }
        return nil
    }

    @Test("Certificates on both sides", arguments: versions)
    func mutual(_ version: TLSVersion) throws {
        let identity = try Identities.client.get()
        let pair = try EnginePair(
            .client {
                $0.maximumVersion = version
                $0.identity = identity
            }, .server { $0.peerAuthentication = .required })
        pair.establish()
        #expect(pair.server.negotiation?.peerCertificates.first == identity.certificates[0])
    }

    // Missing client certificates: RFC 8446 §4.4.2.4.
    @Test("A client without a certificate", arguments: versions)
    func missing(_ version: TLSVersion) throws {
        let required = try EnginePair(
            .client { $0.maximumVersion = version }, .server { $0.peerAuthentication = .required })
        required.run()
        #expect(required.serverFailure?.code == .certificateRequired)
        #expect(clientOutcome(required)?.code == .alert(version == .tls13 ? 116 : 40))
        let optional = try EnginePair(
            .client { $0.maximumVersion = version }, .server { $0.peerAuthentication = .optional })
        optional.establish()
        #expect(optional.server.negotiation?.peerCertificates.isEmpty == true)
    }

    @Test("A client with a certificate that the server does not trust", arguments: versions)
    func untrustedClient(_ version: TLSVersion) throws {
        let stranger = try Authority("Unknown").issue()
        let pair = try EnginePair(
            .client {
                $0.maximumVersion = version
                $0.identity = stranger
            }, .server { $0.peerAuthentication = .optional })
        pair.run()
        guard case .untrusted(let failure) = pair.serverFailure?.code else {
            Issue.record("accepted: \(pair.serverProgress)")
            return
        }
        #expect(failure.rule == .unknownIssuer)
        #expect(clientOutcome(pair)?.status == errSSLPeerUnknownCA)
    }

    @Test(
        "The client's owner verifies: the handshake waits for the decision and obeys it", arguments: versions,
        [true, false])
    func clientVerifier(_ version: TLSVersion, _ isTrusted: Bool) throws {
        let pair = try EnginePair(
            .client {
                $0.maximumVersion = version
                $0.verifier = .owner(1)
                $0.trust = .anchored()
            }, .server())
        pair.run()
        guard case .evaluateTrust(let trust) = pair.clientProgress else {
            Issue.record("not asked: \(pair.clientProgress)")
            return
        }
        #expect(trust.certificates == (try Identities.server.get().certificates))
        #expect(trust.reference == .name("server.test"))
        #expect(throws: TrustFailure.self) { _ = try trust.evaluate() }
        #expect(throws: Never.self) { _ = try trust.applying(.anchored(.shared)).evaluate() }
        pair.run()
        guard case .evaluateTrust = pair.clientProgress else {
            Issue.record("went on without an answer: \(pair.clientProgress)")
            return
        }
        pair.client.trustEvaluated(isTrusted: isTrusted)
        pair.client.trustEvaluated(isTrusted: true)
        pair.run()
        #expect(pair.isEstablished == isTrusted)
        guard !isTrusted else { return }
        #expect(pair.clientFailure?.code == .refused && pair.clientFailure?.status == errSSLBadCert)
        #expect(outcome(pair)?.code == .alert(42))
    }

    @Test("The server's owner verifies: no content is delivered before", arguments: versions, [true, false])
    func serverVerifier(_ version: TLSVersion, _ isTrusted: Bool) throws {
        let identity = try Identities.client.get()
        let pair = try EnginePair(
            .client {
                $0.maximumVersion = version
                $0.identity = identity
            },
            .server {
                $0.peerAuthentication = .required
                $0.verifier = .owner(1)
            })
        pair.run()
        guard case .evaluateTrust(let trust) = pair.serverProgress else {
            Issue.record("not asked: \(pair.serverProgress)")
            return
        }
        #expect(trust.certificates.first == identity.certificates[0] && trust.role == .client)
        #expect(pair.server.readAll().bytes.isEmpty && pair.server.negotiation == nil)
        // In TLS 1.2, the server sends the last handshake message. Before that, its owner must accept or refuse the
        // client's certificate.
        if version == .tls12 { #expect(pair.client.negotiation == nil) }
        pair.server.trustEvaluated(isTrusted: isTrusted)
        pair.run()
        #expect(pair.isEstablished == isTrusted)
        if isTrusted {
            #expect(try pair.transfer([1], from: pair.client, to: pair.server) == [1])
        } else {
            #expect(pair.serverFailure?.code == .refused)
            #expect(throws: TLSFailure.self) { try pair.server.write("x") }
        }
    }

    // RFC 8446 §4.2.4, §4.4.2.3, §4.2.3.
    @Test("The client's owner selects the identity", arguments: versions, [true, false])
    func challenge(_ version: TLSVersion, _ hasIdentity: Bool) throws {
        let identity = try Identities.client.get()
        let pair = try EnginePair(
            .client {
                $0.maximumVersion = version
                $0.asksForIdentity = true
            }, .server { $0.peerAuthentication = .optional })
        pair.run()
        guard case .chooseIdentity(let challenge) = pair.clientProgress else {
            Issue.record("not asked: \(pair.clientProgress)")
            return
        }
        #expect(challenge.authorities == [Authority.shared.certificate.subjectDER])
        #expect(challenge.signatureSchemes.contains(0x0403))
        pair.client.identityChosen(hasIdentity ? identity : nil)
        pair.establish()
        #expect(pair.server.negotiation?.peerCertificates.first == (hasIdentity ? identity.certificates[0] : nil))
    }

    @Test("A server without client authentication causes no query for an identity", arguments: versions)
    func noChallenge(_ version: TLSVersion) throws {
        let pair = try EnginePair(
            .client {
                $0.maximumVersion = version
                $0.asksForIdentity = true
            }, .server())
        pair.establish()
        #expect(pair.server.negotiation?.peerCertificates.isEmpty == true)
    }

    static let key = TLSSettings.PreSharedKey(key: Array(1...32), identity: Array("peer".utf8))

    // Pre-shared keys: RFC 8446 §2.2, §4.2.11.
    @Test("Pre-shared keys", arguments: versions)
    func preSharedKey(_ version: TLSVersion) throws {
        func pair(_ clientKey: TLSSettings.PreSharedKey) throws -> EnginePair {
            let pair = try EnginePair(
                .client {
                    $0.maximumVersion = version
                    $0.preSharedKeys = [clientKey]
                    if version == .tls12 { $0.cipherSuites = [0x00a8] }
                },
                .server {
                    $0.identity = nil
                    $0.preSharedKeys = [.init(key: [9], identity: [9]), Self.key]
                    $0.preSharedKeyHint = Array("hint".utf8)
                })
            pair.run()
            return pair
        }
        let good = try pair(Self.key)
        #expect(good.isEstablished, "client: \(good.clientProgress), server: \(good.serverProgress)")
        #expect(good.client.negotiation?.cipherSuite == (version == .tls12 ? 0x00a8 : 0x1301))
        #expect(good.client.negotiation?.peerCertificates.isEmpty == true)
        #expect(try good.transfer([7], from: good.server, to: good.client) == [7])
        #expect(try !pair(.init(key: [1, 2, 3], identity: Self.key.identity)).isEstablished)
        #expect(try !pair(.init(key: Self.key.key, identity: Array("other".utf8))).isEstablished)
        #expect(try pair(.init(key: Self.key.key, identity: Array("peer\0ignored".utf8))).isEstablished)
    }

    @Test(
        "The identity of a pre-shared key ends at its first zero byte", arguments: versions,
        [[], [0xff, 0xfe, 0x54]])
    func preSharedKeyIdentity(_ version: TLSVersion, _ visible: [UInt8]) throws {
        let pair = try EnginePair(
            .client {
                $0.maximumVersion = version
                $0.preSharedKeys = [.init(key: Self.key.key, identity: visible + [0, 1, 2])]
                if version == .tls12 { $0.cipherSuites = [0x00a8] }
            },
            .server {
                $0.identity = nil
                $0.preSharedKeys = [.init(key: Self.key.key, identity: visible + [0, 3, 4])]
            })
        pair.establish()
        #expect(pair.client.negotiation?.version == (visible.isEmpty ? .tls12 : version))
        #expect(try pair.transfer([7], from: pair.client, to: pair.server) == [7])
    }
}
