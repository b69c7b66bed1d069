import Dispatch
import Foundation
import Testing

@testable import Causeway

@Suite("TLS settings and metadata")
struct SecProtocolTests {
    private func bytes(_ text: String) -> DispatchData { Data(text.utf8).dispatchData }

    @Test("Functions set the options")
    func storing() throws {
        let tls = NWProtocolTLS.Options()
        let options = tls.securityProtocolOptions
        #expect(options === tls.securityProtocolOptions)
        #expect(options.values == SecProtocolOptionValues())
        let suite = try #require(tls_ciphersuite_t(rawValue: TLS_PSK_WITH_AES_128_GCM_SHA256))
        sec_protocol_options_append_tls_ciphersuite(options, suite)
        sec_protocol_options_append_tls_ciphersuite_group(options, .ats)
        sec_protocol_options_set_min_tls_protocol_version(options, .TLSv12)
        sec_protocol_options_set_max_tls_protocol_version(options, .TLSv13)
        sec_protocol_options_add_tls_application_protocol(options, "h2")
        sec_protocol_options_add_tls_application_protocol(options, "http/1.1")
        sec_protocol_options_set_tls_server_name(options, "example.org")
        sec_protocol_options_add_pre_shared_key(options, bytes("key"), bytes("name"))
        sec_protocol_options_set_tls_pre_shared_key_identity_hint(options, bytes("hint"))
        sec_protocol_options_set_tls_tickets_enabled(options, false)
        sec_protocol_options_set_tls_is_fallback_attempt(options, true)
        sec_protocol_options_set_tls_resumption_enabled(options, true)
        sec_protocol_options_set_tls_false_start_enabled(options, true)
        sec_protocol_options_set_tls_ocsp_enabled(options, true)
        sec_protocol_options_set_tls_sct_enabled(options, false)
        sec_protocol_options_set_tls_renegotiation_enabled(options, false)
        sec_protocol_options_set_peer_authentication_required(options, true)

        let values = options.values
        #expect(values.ciphers.suites.map(\.rawValue) == [0x00a8])
        #expect(values.ciphers.groups == [.ats])
        #expect(values.versions.minimum == .TLSv12 && values.versions.maximum == .TLSv13)
        #expect(values.applicationProtocols == ["h2", "http/1.1"])
        #expect(values.serverName == "example.org")
        #expect(values.preSharedKeys.keys == [.init(key: Data("key".utf8), identity: Data("name".utf8))])
        #expect(values.preSharedKeys.identityHint == Data("hint".utf8))
        #expect(values.switches[.tickets] == false && values.isFallbackAttempt && values.switches[.resumption] == true)
        #expect(values.switches[.falseStart] == true && values.switches[.ocsp] == true)
        #expect(values.switches[.sct] == false && values.switches[.renegotiation] == false)
        #expect(values.peer.authentication == .required)
    }

    @Test("Parameters copy the settings: a later change has no effect")
    func copying() throws {
        let tls = NWProtocolTLS.Options()
        sec_protocol_options_set_tls_server_name(tls.securityProtocolOptions, "one")
        let copy = try #require(tls.copyOptions() as? NWProtocolTLS.Options)
        #expect(sec_protocol_options_are_equal(tls.securityProtocolOptions, copy.securityProtocolOptions))
        sec_protocol_options_set_tls_server_name(tls.securityProtocolOptions, "two")
        #expect(copy.securityProtocolOptions.values.serverName == "one")
        #expect(!sec_protocol_options_are_equal(tls.securityProtocolOptions, copy.securityProtocolOptions))
    }

    @Test("Options whose default is off equal the default once off; the others differ from the engine's default")
    func switches() {
        let (options, initial) = (sec_protocol_options_t(), sec_protocol_options_t())
        sec_protocol_options_set_tls_is_fallback_attempt(options, true)
        #expect(!sec_protocol_options_are_equal(options, initial))
        sec_protocol_options_set_tls_is_fallback_attempt(options, false)
        #expect(sec_protocol_options_are_equal(options, initial))
        sec_protocol_options_set_tls_ocsp_enabled(options, false)
        #expect(!sec_protocol_options_are_equal(options, initial))
        sec_protocol_options_set_tls_ocsp_enabled(options, true)
        let switches = options.values.switches
        #expect(switches[.ocsp] == true && switches[.tickets] == nil)
        sec_protocol_options_set_tls_ocsp_enabled(initial, true)
        #expect(sec_protocol_options_are_equal(options, initial))
    }

    @Test("Options with blocks are equal if one call set the blocks")
    func blocks() throws {
        let queue = DispatchQueue(label: "verify")
        let options = sec_protocol_options_t()
        sec_protocol_options_set_verify_block(options, { _, _, complete in complete(true) }, queue)
        sec_protocol_options_set_challenge_block(options, { _, complete in complete(nil) }, queue)
        sec_protocol_options_set_key_update_block(options, { _, complete in complete() }, queue)
        sec_protocol_options_set_pre_shared_key_selection_block(options, { _, _, complete in complete(nil) }, queue)
        #expect(sec_protocol_options_are_equal(options, options.copy()))
        let other = options.copy()
        sec_protocol_options_set_verify_block(other, { _, _, complete in complete(true) }, queue)
        #expect(!sec_protocol_options_are_equal(options, other))
        var answer = false
        let verify = try #require(options.values.peer.verify)
        let trust = sec_trust_t(SecTrust(.init(certificates: [], policies: [])))
        verify.block.value(sec_protocol_metadata_t(), trust) { answer = $0 }
        #expect(answer)
        #expect(verify.queue === queue)
    }

    @Test("The default versions")
    func versions() {
        #expect(sec_protocol_options_get_default_min_tls_protocol_version() == .TLSv12)
        #expect(sec_protocol_options_get_default_max_tls_protocol_version() == .TLSv13)
        #expect(sec_protocol_options_get_default_min_dtls_protocol_version() == .DTLSv12)
        #expect(sec_protocol_options_get_default_max_dtls_protocol_version() == .DTLSv12)
        for version: tls_protocol_version_t in [.TLSv10, .TLSv11, .TLSv12, .TLSv13, .DTLSv10, .DTLSv12] {
            #expect(SSLProtocol(version).version == version)
        }
        #expect(SSLProtocol.sslProtocol3.version == nil)
        #expect(tls_ciphersuite_t.AES_128_GCM_SHA256.rawValue == 0x1301)
        #expect(tls_ciphersuite_t(rawValue: 0xcca8) == .ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256)
    }

    @Test("Empty metadata have no values")
    func emptyMetadata() {
        let metadata = sec_protocol_metadata_t()
        #expect(sec_protocol_metadata_get_negotiated_protocol(metadata) == nil)
        #expect(sec_protocol_metadata_copy_server_name(metadata) == nil)
        #expect(sec_protocol_metadata_copy_peer_public_key(metadata) == nil)
        #expect(!sec_protocol_metadata_access_peer_certificate_chain(metadata) { _ in Issue.record("no certificate") })
        #expect(!sec_protocol_metadata_access_ocsp_response(metadata) { _ in Issue.record("no status") })
        #expect(!sec_protocol_metadata_get_early_data_accepted(metadata))
        #expect(!sec_protocol_metadata_peers_are_equal(metadata, metadata))
        #expect(sec_protocol_metadata_create_secret(metadata, 4, "exporter", 32) == nil)
    }

    @Test("Functions read the values that the engine has set")
    func filledMetadata() throws {
        let metadata = sec_protocol_metadata_t()
        let certificate = SecCertificate(data: Data([0x30, 0x00]))
        metadata.update { values in
            values.applicationProtocol = "h2"
            values.serverName = "example.org"
            values.version = .TLSv13
            values.cipherSuite = .AES_256_GCM_SHA384
            values.peer.certificates = [certificate]
            values.signatureAlgorithms = [0x0804, 0x0403]
            values.export = { label, context, count in Data((label + (context ?? Data())).prefix(count)) }
        }
        let borrowed = try #require(sec_protocol_metadata_get_negotiated_protocol(metadata))
        #expect(String(cString: borrowed) == "h2")
        #expect(sec_protocol_metadata_get_negotiated_protocol(metadata) == borrowed)
        let owned = try #require(sec_protocol_metadata_copy_server_name(metadata))
        #expect(String(cString: owned) == "example.org")
        free(UnsafeMutableRawPointer(mutating: owned))
        #expect(sec_protocol_metadata_get_negotiated_tls_protocol_version(metadata) == .TLSv13)
        #expect(sec_protocol_metadata_get_negotiated_tls_ciphersuite(metadata) == .AES_256_GCM_SHA384)
        var chain: [SecCertificate] = []
        #expect(
            sec_protocol_metadata_access_peer_certificate_chain(metadata) { certificate in
                chain.append(sec_certificate_copy_ref(certificate).takeRetainedValue())
            })
        #expect(chain == [certificate])
        var algorithms: [UInt16] = []
        #expect(sec_protocol_metadata_access_supported_signature_algorithms(metadata) { algorithms.append($0) })
        #expect(algorithms == [0x0804, 0x0403])
        #expect(sec_protocol_metadata_peers_are_equal(metadata, metadata))
        let secret = sec_protocol_metadata_create_secret_with_context(metadata, 2, "ab", 1, [0x63], 8)
        #expect(secret.map { Data($0) } == Data("abc".utf8))
        #expect(sec_protocol_metadata_create_secret(metadata, 2, "ab", 0) == nil)
        #expect(sec_protocol_metadata_create_secret(metadata, -1, "ab", 8) == nil)
    }
}
