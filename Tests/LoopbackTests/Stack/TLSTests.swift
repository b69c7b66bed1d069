import CausewayTLS
import CausewayTypes
import Dispatch
import Foundation
import Testing

@testable import Causeway

extension Loopback {
    @Suite("TLS")
    struct TLSTests {
        private struct Authority {
            let identity: TLSIdentity
            let server: SecIdentity
            let client: SecIdentity

            init() throws {
                let now = Int64(Date().timeIntervalSince1970)
                func template(_ subject: String) -> CertificateTemplate {
                    CertificateTemplate(subject: subject, notBefore: now - 3_600, notAfter: now + 3_600)
                }
                var root = template("Loopback Test Authority")
                root.isAuthority = true
                identity = try root.issue()
                var leaf = template("server")
                leaf.names = [.name("server.test")]
                server = SecIdentity(try leaf.issue(by: identity))
                client = SecIdentity(try template("client").issue(by: identity))
            }

            var anchor: SecCertificate { SecCertificate(data: Data(identity.certificates[0].der)) }
        }

        private static func serverParameters(
            _ authority: Authority, _ tune: (sec_protocol_options_t) -> Void = { _ in }
        ) throws -> NWParameters {
            let options = NWProtocolTLS.Options()
            let identity = try #require(sec_identity_create(authority.server))
            sec_protocol_options_set_local_identity(options.securityProtocolOptions, identity)
            tune(options.securityProtocolOptions)
            return NWParameters(tls: options)
        }

        /// Returns the parameters of a typical client. Its verify block trusts only `authority`.
        private static func clientParameters(
            trusting authority: Authority?, name: String = "server.test",
            _ tune: (sec_protocol_options_t) -> Void = { _ in }
        ) -> NWParameters {
            let options = NWProtocolTLS.Options()
            sec_protocol_options_set_tls_server_name(options.securityProtocolOptions, name)
            if let anchor = authority?.anchor {
                sec_protocol_options_set_verify_block(
                    options.securityProtocolOptions,
                    { _, trust, complete in
                        let trust = sec_trust_copy_ref(trust).takeRetainedValue()
                        SecTrustSetAnchorCertificates(trust, [anchor] as CFArray)
                        complete(SecTrustEvaluateWithError(trust, nil))
                    }, DispatchQueue(label: "verify"))
            }
            tune(options.securityProtocolOptions)
            return NWParameters(tls: options)
        }

        /// Converts text to dispatch data, in the same way as programs do.
        private static func bytes(_ text: String) -> __DispatchData {
            Data(text.utf8).withUnsafeBytes { DispatchData(bytes: $0) } as __DispatchData
        }

        private static func url(_ port: NWEndpoint.Port) -> NWEndpoint {
            .url(URL(string: "wss://127.0.0.1:\(port.rawValue)/")!)
        }

        private static func metadata(_ probe: Probe) -> sec_protocol_metadata_t? {
            let metadata = probe.connection.metadata(definition: NWProtocolTLS.definition)
            return (metadata as? NWProtocolTLS.Metadata)?.securityProtocolMetadata
        }

        @Test("4 MiB in each direction with any receive sizes, then the end in either order")
        func transfer() async throws {
            let authority = try Authority()
            try await StackPair.with(
                client: Self.clientParameters(trusting: authority), server: try Self.serverParameters(authority)
            ) { pair in
                let content = Data((0..<(4 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
                for (one, other) in [(pair.client, pair.server), (pair.server, pair.client)] {
                    let outcome = one.send(content)
                    var received = Data()
                    // The minimum and maximum length for each receive call. Some lie within one TLS record, some span
                    // several records, and some exceed what one read returns.
                    var sizes = [(1, 1), (1, 5), (1, 200_000), (20_000, 20_000), (1, 4_096), (3, 70_000)]
                    sizes.append((90_000, 90_000))
                    while received.count < content.count {
                        let (minimum, maximum) = sizes.removeFirst()
                        sizes.append((minimum, maximum))
                        let most = min(maximum, content.count - received.count)
                        let piece = try #require(
                            try await other.receive(min(minimum, most), most).data)
                        #expect(piece.count >= min(minimum, most) && piece.count <= most && piece.startIndex == 0)
                        received += piece
                    }
                    let isWhole = received == content
                    #expect(isWhole)
                    #expect(try await outcome.next() == nil)
                }
                try await pair.client.sendEnd()
                let end = try await pair.server.receive()
                #expect(end.data == nil && end.isComplete && end.isFinal && end.error == nil)
                try await pair.server.deliver(Data("still open".utf8))
                #expect(try await pair.client.receive().text == "still open")
                try await pair.server.sendEnd()
                #expect(try await pair.client.receive().isFinal)
            }
        }

        @Test("The negotiated parameters can be read")
        func negotiation() async throws {
            let authority = try Authority()
            let offer: (sec_protocol_options_t) -> Void = {
                sec_protocol_options_add_tls_application_protocol($0, "echo")
            }
            try await StackPair.with(
                client: Self.clientParameters(trusting: authority, offer),
                server: try Self.serverParameters(authority, offer)
            ) { pair in
                for probe in [pair.client, pair.server] {
                    let metadata = try #require(Self.metadata(probe))
                    let name = try #require(sec_protocol_metadata_get_negotiated_protocol(metadata))
                    #expect(String(cString: name) == "echo")
                    #expect(sec_protocol_metadata_get_negotiated_tls_protocol_version(metadata) == .TLSv13)
                }
            }
        }

        enum Refusal: String, CaseIterable {
            case unknownAuthority, wrongName, verifyBlock
        }

        @Test("A client that does not trust the server waits, and sends no content", arguments: Refusal.allCases)
        func refused(_ refusal: Refusal) async throws {
            let authority = try Authority()
            let client =
                switch refusal {
                case .unknownAuthority: Self.clientParameters(trusting: nil)
                case .wrongName: Self.clientParameters(trusting: authority, name: "other.test")
                case .verifyBlock:
                    Self.clientParameters(trusting: nil) { options in
                        sec_protocol_options_set_verify_block(
                            options, { _, _, complete in complete(false) }, DispatchQueue(label: "verify"))
                    }
                }
            try await StackPair.connecting(
                client: client, server: try Self.serverParameters(authority)
            ) { pair in
                pair.client.send(Data("secret".utf8))
                let answer = pair.server.requestMessage()
                try await pair.client.states.expect(.preparing)
                guard case .waiting(.tls) = try await pair.client.states.next() else {
                    Issue.record("not waiting for TLS: \(pair.client.states.history)")
                    return
                }
                let received = try await answer.next()
                #expect(received.data == nil && received.error != nil)
                try await pair.server.states.first { if case .failed = $0 { true } else { false } }
                try await pair.client.cancel()
            }
        }

        @Test("Both sides authenticate")
        func mutual() async throws {
            let authority = try Authority()
            let client = Self.clientParameters(trusting: authority) { options in
                if let identity = sec_identity_create(authority.client) {
                    sec_protocol_options_set_local_identity(options, identity)
                }
            }
            let server = try Self.serverParameters(authority) { options in
                sec_protocol_options_set_peer_authentication_required(options, true)
                sec_protocol_options_set_verify_block(
                    options,
                    { _, trust, complete in
                        let trust = sec_trust_copy_ref(trust).takeRetainedValue()
                        SecTrustSetAnchorCertificates(trust, [authority.anchor] as CFArray)
                        complete(SecTrustEvaluateWithError(trust, nil))
                    }, DispatchQueue(label: "verify"))
            }
            try await StackPair.with(client: client, server: server) { pair in
                try await pair.client.deliver(Data("hello".utf8))
                #expect(try await pair.server.receive().text == "hello")
            }
        }

        @Test("WebSocket over TLS")
        func webSocket() async throws {
            let authority = try Authority()
            let (client, server) = (
                Self.clientParameters(trusting: authority), try Self.serverParameters(authority)
            )
            for parameters in [client, server] {
                parameters.defaultProtocolStack.applicationProtocols.insert(NWProtocolWebSocket.Options(), at: 0)
            }
            try await StackPair.with(
                client: client, server: server, endpoint: Self.url
            ) { pair in
                let context = NWConnection.ContentContext(
                    identifier: "text", metadata: [NWProtocolWebSocket.Metadata(opcode: .text)])
                let content = Data(repeating: 97, count: 200_000)
                let outcome = pair.client.send(content, context)
                let received = try await pair.server.receiveMessage()
                let error = try await outcome.next()
                #expect(received.data == content && error == nil)
            }
        }

        @Test("With a pre-shared key, content that ends without a close_notify is an error")
        func preSharedKeyAndTruncation() async throws {
            func parameters() -> NWParameters {
                let options = NWProtocolTLS.Options()
                sec_protocol_options_add_pre_shared_key(
                    options.securityProtocolOptions, Self.bytes("0123456789abcdef"), Self.bytes("game"))
                sec_protocol_options_append_tls_ciphersuite(
                    options.securityProtocolOptions,
                    tls_ciphersuite_t(rawValue: UInt16(TLS_PSK_WITH_AES_128_GCM_SHA256))!)
                return NWParameters(tls: options)
            }
            try await StackPair.with(client: parameters(), server: parameters()) { pair in
                try await pair.client.deliver(Data("hello".utf8))
                #expect(try await pair.server.receive().text == "hello")
                // Only the transport ends, and no close_notify is sent. The receiver must report an error, because an
                // attacker could forge such an end.
                pair.client.connection.driver.flow.withDescriptor { _ = shutdown($0, Int32(SHUT_RDWR)) }
                #expect(try await pair.server.receive().error != nil)
            }
        }
    }
}
