import CausewayTLS
import CausewayTypes
import Dispatch
import Foundation
import Testing

@testable import Causeway

@Suite("Translation of TLS options for the engine")
struct TLSConfigurationTests {
    private static let now = Int64(Date().timeIntervalSince1970)

    private static func issue(_ name: String, by issuer: TLSIdentity? = nil) throws -> TLSIdentity {
        var template = CertificateTemplate(subject: name, notBefore: now - 3_600, notAfter: now + 3_600)
        template.names = [.name("server.test")]
        template.isAuthority = issuer == nil
        return try template.issue(by: issuer)
    }

    private func settings(
        isServer: Bool = false, isDatagram: Bool = false, _ set: (sec_protocol_options_t) -> Void = { _ in }
    ) throws -> TLSSettings {
        let options = NWProtocolTLS.Options()
        set(options.securityProtocolOptions)
        return try options.securityProtocolOptions.values.settings(isServer: isServer, isDatagram: isDatagram)
    }

    private func bytes(_ text: String) -> DispatchData { Data(text.utf8).dispatchData }

    @Test("Options without values are the engine's defaults")
    func defaults() throws {
        #expect(try settings() == TLSSettings(.client))
        #expect(try settings(isServer: true) == TLSSettings(.server))
    }

    @Test("Every option is passed on")
    func mapping() throws {
        let made = try settings { options in
            sec_protocol_options_set_min_tls_protocol_version(options, .TLSv12)
            sec_protocol_options_set_max_tls_protocol_version(options, .TLSv13)
            sec_protocol_options_append_tls_ciphersuite(options, .AES_256_GCM_SHA384)
            sec_protocol_options_append_tls_ciphersuite(options, .AES_256_GCM_SHA384)
            sec_protocol_options_add_tls_application_protocol(options, "h2")
            sec_protocol_options_add_pre_shared_key(options, bytes("key"), bytes("name"))
            sec_protocol_options_set_tls_pre_shared_key_identity_hint(options, bytes("hint"))
            sec_protocol_options_set_tls_tickets_enabled(options, false)
            sec_protocol_options_set_tls_resumption_enabled(options, false)
            sec_protocol_options_set_tls_ocsp_enabled(options, false)
            sec_protocol_options_set_tls_is_fallback_attempt(options, true)
            sec_protocol_options_set_challenge_block(options, { _, complete in complete(nil) }, .main)
        }
        var expected = TLSSettings(.client)
        expected.minimumVersion = .tls12
        expected.maximumVersion = .tls13
        expected.cipherSuites = [0x1302]
        expected.applicationProtocols = ["h2"]
        expected.preSharedKeys = [.init(key: Array("key".utf8), identity: Array("name".utf8))]
        expected.preSharedKeyHint = Array("hint".utf8)
        expected.areTicketsEnabled = false
        expected.isResumptionEnabled = false
        expected.requestsStatus = false
        expected.isFallbackAttempt = true
        expected.asksForIdentity = true
        #expect(made == expected)
    }

    @Test("Groups of suites are in the order of the suites, and wider groups include narrower ones")
    func suiteGroups() throws {
        let made = try settings { options in
            sec_protocol_options_append_tls_ciphersuite(options, .CHACHA20_POLY1305_SHA256)
            sec_protocol_options_append_tls_ciphersuite_group(options, .ats)
        }
        #expect(made.cipherSuites.first == 0x1303)
        #expect(Set(made.cipherSuites) == Set(tls_ciphersuite_group_t.ats.numbers))
        #expect(made.cipherSuites.count == Set(made.cipherSuites).count)
        let ladder: [tls_ciphersuite_group_t] = [.default, .ats, .ats_compatibility, .legacy]
        for (narrow, wide) in zip(ladder, ladder.dropFirst()) {
            #expect(Set(narrow.numbers).isStrictSubset(of: wide.numbers))
        }
    }

    @Test("A version belongs to the transport; one that does not exist is refused as a minimum")
    func versions() throws {
        func range(_ minimum: tls_protocol_version_t, _ maximum: tls_protocol_version_t, _ isDatagram: Bool) throws
            -> [TLSVersion?]
        {
            let made = try settings(isDatagram: isDatagram) {
                sec_protocol_options_set_min_tls_protocol_version($0, minimum)
                sec_protocol_options_set_max_tls_protocol_version($0, maximum)
            }
            return [made.minimumVersion, made.maximumVersion]
        }
        #expect(try range(.TLSv12, .TLSv13, true) == [.dtls12, .dtls12])
        #expect(try range(.DTLSv10, .DTLSv12, false) == [.tls11, .tls12])
        #expect(throws: NWError.posix(.ENOTSUP)) { try range(.TLSv13, .TLSv13, true) }
    }

    @Test("A verify block is called, and shares no session with others")
    func setsVerifier() throws {
        func configured(_ required: Bool?) throws -> TLSSettings {
            try settings { options in
                sec_protocol_options_set_verify_block(options, { _, _, complete in complete(true) }, .main)
                if let required { sec_protocol_options_set_peer_authentication_required(options, required) }
            }
        }
        #expect(try configured(nil).verifier != configured(nil).verifier)
        #expect(try configured(nil).verifier != .rules)
        #expect(try configured(false).peerAuthentication == .required, "otherwise the block would not be called")
        #expect(
            try settings { sec_protocol_options_set_peer_authentication_required($0, false) }.peerAuthentication
                == .none)
        #expect(
            try settings(isServer: true) { sec_protocol_options_set_peer_authentication_required($0, true) }
                .peerAuthentication == .required)
    }

    @Test("Unsupported options are refused")
    func refusals() throws {
        #expect(throws: NWError.posix(.ENOTSUP)) {
            try settings { options in
                sec_protocol_options_set_pre_shared_key_selection_block(
                    options, { _, _, complete in complete(nil) }, .main)
            }
        }
        #expect(throws: NWError.tls(errSSLBadConfiguration)) {
            try makeTLSLayer(NWProtocolTLS.Options(), isServer: true, isDatagram: false, host: nil, port: 0)
        }
        let layer = try makeTLSLayer(
            NWProtocolTLS.Options(), isServer: false, isDatagram: false, host: "server.test", port: 443)
        #expect(layer.stage is TLSStage)
        #expect((layer.delegate as? TLSDelegate)?.metadata == nil)
    }

    @Test("An identity from an archive can be used")
    func identities() throws {
        let made = try Self.issue("leaf", by: Self.issue("root"))
        let archive = Data(made.pkcs12(password: "secret"))
        var items: CFArray?
        #expect(SecPKCS12Import(archive, [kSecImportExportPassphrase: "wrong"], &items) == errSecAuthFailed)
        #expect(items == nil)
        #expect(SecPKCS12Import(archive, [kSecImportExportPassphrase: "secret"], &items) == errSecSuccess)
        let item = try #require(items?.first as? CFDictionary)
        let identity = try #require(item[kSecImportItemIdentity] as? SecIdentity)
        #expect(identity.certificate.data == Data(made.certificates[0].der))
        let wrapped = try #require(sec_identity_create(identity))
        #expect(try settings(isServer: true) { sec_protocol_options_set_local_identity($0, wrapped) }.identity == made)
        #expect(throws: NWError.tls(errSSLBadCert)) { try SecIdentity(pkcs12: archive, password: "wrong") }
        #expect(throws: NWError.posix(.ENOENT)) { try SecIdentity(certificateFile: "/nonexistent.pem") }
        #expect(throws: NWError.tls(errSSLBadCert)) { try SecIdentity(pem: Data("no certificate".utf8)) }
    }

    @Test("An identity from parts uses the given chain, and a wrong key is refused")
    func parts() throws {
        let root = try Self.issue("root")
        let made = try Self.issue("leaf", by: root)
        let certificate = SecCertificate(data: Data(made.certificates[0].der))
        let key = SecKey(.engine(made.privateKey))
        let issuer = SecCertificate(data: Data(root.certificates[0].der))
        let whole = sec_identity_t(SecIdentity(certificate: certificate, privateKey: key), chain: [issuer])
        #expect(try whole.engineIdentity().certificates.count == 2)
        let foreign = SecKey(.engine(root.privateKey))
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        #expect(publicKey != key && publicKey == SecCertificateCopyKey(certificate))
        for wrong in [foreign, publicKey] {
            let broken = sec_identity_t(SecIdentity(certificate: certificate, privateKey: wrong))
            #expect(throws: NWError.tls(errSSLBadCert)) { try broken.engineIdentity() }
        }
    }

    @Test("A trust uses its anchors and the name of its policy")
    func trust() throws {
        let root = try Self.issue("root")
        let leaf = SecCertificate(data: Data(try Self.issue("leaf", by: root).certificates[0].der))
        let anchors = [SecCertificate(data: Data(root.certificates[0].der))]
        func evaluate(_ policy: SecPolicy, anchored: Bool) throws -> NWError? {
            var made: SecTrust?
            #expect(SecTrustCreateWithCertificates(leaf, policy, &made) == errSecSuccess)
            let trust = try #require(made)
            if anchored { #expect(SecTrustSetAnchorCertificates(trust, anchors) == errSecSuccess) }
            var error: CFError?
            #expect(SecTrustEvaluateWithError(trust, &error) == (error == nil))
            return error?.underlyingError
        }
        #expect(try evaluate(SecPolicyCreateSSL(true, "server.test"), anchored: true) == nil)
        #expect(try evaluate(SecPolicyCreateSSL(true, "server.test"), anchored: false) == .tls(errSSLXCertChainInvalid))
        #expect(try evaluate(SecPolicyCreateSSL(true, "other.test"), anchored: true) == .tls(errSSLHostNameMismatch))
        #expect(try evaluate(SecPolicyCreateSSL(true, ""), anchored: true) == .tls(errSSLHostNameMismatch))
        // These policies require no name. The certificate chain is still verified.
        for policy in [SecPolicyCreateSSL(true, nil), SecPolicyCreateBasicX509()] {
            #expect(try evaluate(policy, anchored: true) == nil)
            #expect(try evaluate(policy, anchored: false) == .tls(errSSLXCertChainInvalid))
        }
    }

    @Test("Several policies must all hold, and an empty list holds nothing")
    func policies() throws {
        let root = try Self.issue("root")
        let leaf = SecCertificate(data: Data(try Self.issue("leaf", by: root).certificates[0].der))
        let names = ["server.test", "other.test"]
        func evaluate(_ policies: [SecPolicy]) throws -> NWError? {
            var made: SecTrust?
            #expect(SecTrustCreateWithCertificates([leaf] as CFArray, policies as CFArray, &made) == errSecSuccess)
            let trust = try #require(made)
            SecTrustSetAnchorCertificates(trust, [SecCertificate(data: Data(root.certificates[0].der))])
            var error: CFError?
            SecTrustEvaluateWithError(trust, &error)
            return error?.underlyingError
        }
        #expect(try evaluate([SecPolicyCreateBasicX509(), SecPolicyCreateSSL(true, names[0])]) == nil)
        #expect(
            try evaluate([SecPolicyCreateSSL(true, names[0]), SecPolicyCreateSSL(true, names[1])])
                == .tls(errSSLHostNameMismatch))
        #expect(try evaluate([]) == .posix(.ENOTSUP))
    }

    @Test("A verify block replaces the connection's policy: a private authority, and no name")
    func replacedPolicy() throws {
        let root = try Self.issue("root")
        let leaf = try Self.issue("leaf", by: root)
        let question = PeerTrust(
            certificates: leaf.certificates, role: .server, reference: .name("10.0.0.9"), settings: TrustSettings())
        let trust = SecTrust(question)
        #expect(!SecTrustEvaluateWithError(trust, nil))
        SecTrustSetAnchorCertificates(trust, [SecCertificate(data: Data(root.certificates[0].der))] as CFArray)
        var error: CFError?
        #expect(!SecTrustEvaluateWithError(trust, &error))
        #expect(error?.underlyingError == .tls(errSSLHostNameMismatch))
        #expect(error.map(CFErrorGetCode) == Int(errSecHostNameMismatch))
        SecTrustSetPolicies(trust, SecPolicyCreateBasicX509())
        #expect(SecTrustEvaluateWithError(trust, &error))
        SecTrustSetVerifyDate(trust, Date(timeIntervalSinceNow: 86_400) as CFDate)
        #expect(!SecTrustEvaluateWithError(trust, &error))
        #expect(error?.underlyingError == .tls(errSSLCertExpired))
        #expect(error.map(CFErrorGetCode) == Int(errSecCertificateExpired))
    }

    @Test("A chain for any purpose may be for code signing, one for TLS may not")
    func purposes() throws {
        let root = try Self.issue("root")
        var template = CertificateTemplate(subject: "signer", notBefore: Self.now - 3_600, notAfter: Self.now + 3_600)
        template.names = [.name("server.test")]
        template.usages = [.client]
        let leaf = SecCertificate(data: Data(try template.issue(by: root).certificates[0].der))
        func isTrusted(_ policy: SecPolicy) throws -> Bool {
            var made: SecTrust?
            SecTrustCreateWithCertificates(leaf, policy, &made)
            let trust = try #require(made)
            SecTrustSetAnchorCertificates(trust, [SecCertificate(data: Data(root.certificates[0].der))])
            return SecTrustEvaluateWithError(trust, nil)
        }
        #expect(try isTrusted(SecPolicyCreateBasicX509()))
        #expect(try isTrusted(SecPolicyCreateSSL(false, nil)))
        #expect(try !isTrusted(SecPolicyCreateSSL(true, nil)))
    }

    // MARK: Trust

    @Test("Anchors, pins and exceptions are passed on, and an invalid certificate, host or pin is refused")
    func trustRules() throws {
        let identity = try Self.issue("device")
        let certificate = SecCertificate(data: Data(identity.certificates[0].der))
        var rules = NWProtocolTLS.Options.TrustRules()
        rules.anchors = [certificate]
        rules.includesSystemAnchors = false
        rules.pinnedKeys = [Data(identity.certificates[0].publicKeyPin)]
        rules.exceptions = [.init(host: "printer.test", certificate: certificate)]
        let options = NWProtocolTLS.Options()
        options.trustRules = rules
        #expect(options.trustRules == rules)
        let made = try options.securityProtocolOptions.values.settings(isServer: false, isDatagram: false).trust
        #expect(made.anchors == [identity.certificates[0]] && !made.includesSystemAnchors)
        #expect(made.pins == [identity.certificates[0].publicKeyPin])
        #expect(
            made.exceptions == [
                .init(host: .name("printer.test"), fingerprint: identity.certificates[0].fingerprint)
            ])
        #expect(!sec_protocol_options_are_equal(options.securityProtocolOptions, sec_protocol_options_t()))

        func refusal(_ change: (inout NWProtocolTLS.Options.TrustRules) -> Void) -> NWError? {
            var rules = NWProtocolTLS.Options.TrustRules()
            change(&rules)
            do throws(NWError) {
                _ = try rules.settings()
                return nil
            } catch {
                return error
            }
        }
        #expect(refusal { _ in } == nil)
        #expect(refusal { $0.pinnedKeys = [Data([1])] } == .posix(.EINVAL))
        #expect(refusal { $0.anchors = [SecCertificate(data: Data([0x30, 0]))] } == .tls(errSSLBadCert))
        #expect(
            refusal { $0.exceptions = [.init(host: "no host", certificate: certificate)] }
                == .tls(errSSLBadConfiguration))
        #expect(throws: NWError.posix(.ENOENT)) {
            try NWProtocolTLS.Options.TrustRules.certificates(inFile: "/nowhere")
        }
    }
}
