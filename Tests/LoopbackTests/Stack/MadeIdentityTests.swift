import Dispatch
import Foundation
import Testing

// Import without `@testable`, because a real program can use only the public interface.
import Causeway

extension Loopback {
    @Suite("TLS with an identity that the program makes")
    struct MadeIdentityTests {
        struct Kind: Sendable, CustomTestStringConvertible {
            var type: CFString
            var bits: Int
            var algorithm: SecKeyAlgorithm
            /// Two AlgorithmIdentifier values in base64: `signer` for the signature, and `holder` for the key (RFC 5480
            /// §2.1.1, RFC 5758 §3.2, RFC 3279 §2.3.1).
            var signer: String
            var holder: String
            var testDescription: String { "\(type == kSecAttrKeyTypeRSA ? "RSA" : "EC") \(bits)" }
        }

        static let kinds = [
            Kind(
                type: kSecAttrKeyTypeECSECPrimeRandom, bits: 256, algorithm: .ecdsaSignatureMessageX962SHA256,
                signer: "MAoGCCqGSM49BAMC", holder: "MBMGByqGSM49AgEGCCqGSM49AwEH"),
            Kind(
                type: kSecAttrKeyTypeECSECPrimeRandom, bits: 384, algorithm: .ecdsaSignatureMessageX962SHA384,
                signer: "MAoGCCqGSM49BAMD", holder: "MBAGByqGSM49AgEGBSuBBAAi"),
            Kind(
                type: kSecAttrKeyTypeECSECPrimeRandom, bits: 521, algorithm: .ecdsaSignatureMessageX962SHA512,
                signer: "MAoGCCqGSM49BAME", holder: "MBAGByqGSM49AgEGBSuBBAAj"),
            Kind(
                type: kSecAttrKeyTypeRSA, bits: 2_048, algorithm: .rsaSignatureMessagePKCS1v15SHA256,
                signer: "MA0GCSqGSIb3DQEBCwUA", holder: "MA0GCSqGSIb3DQEBAQUA"),
        ]

        /// Encodes a DER value in a simple way. This is enough for a program that needs only one kind of certificate.
        private static func value(_ tag: UInt8, _ parts: Data...) -> Data {
            let content = parts.reduce(Data(), +)
            let length: [UInt8] =
                switch content.count {
                case 0..<0x80: [UInt8(content.count)]
                case 0x80..<0x100: [0x81, UInt8(content.count)]
                default: [0x82, UInt8(content.count >> 8), UInt8(content.count & 0xff)]
                }
            return Data([tag] + length) + content
        }

        private static func time(_ date: Date) -> Data {
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = TimeZone(identifier: "UTC")
            formatter.dateFormat = "yyyyMMddHHmmss'Z'"
            return value(0x18, Data(formatter.string(from: date).utf8))
        }

        /// Makes a key and a certificate for the name `server.test`, and signs the certificate with the key.
        private static func makeIdentity(_ kind: Kind) throws -> (SecCertificate, SecIdentity) {
            let attributes: [CFString: Any] = [kSecAttrKeyType: kind.type, kSecAttrKeySizeInBits: kind.bits]
            var error: Unmanaged<CFError>?
            guard let key = SecKeyCreateRandomKey(attributes as CFDictionary, &error),
                let publicKey = SecKeyCopyPublicKey(key),
                let point = SecKeyCopyExternalRepresentation(publicKey, &error) as Data?
            else { throw error!.takeRetainedValue() }
            let signer = try #require(Data(base64Encoded: kind.signer))
            let holder = try #require(Data(base64Encoded: kind.holder))
            let name = Data("server.test".utf8)
            let commonName = value(0x30, value(0x31, value(0x30, Data([6, 3, 0x55, 4, 3]), value(0x0c, name))))
            let now = Date()
            // A subjectAltName with one dNSName (RFC 5280 §4.2.1.6).
            let names = value(0x30, Data([6, 3, 0x55, 0x1d, 17]), value(4, value(0x30, value(0x82, name))))
            let body = value(
                0x30, Data([0xa0, 3, 2, 1, 2]), value(2, Data([0x2a])), signer, commonName,
                value(0x30, time(now - 3_600), time(now + 3_600)), commonName,
                value(0x30, holder, value(3, Data([0]), point)), value(0xa3, value(0x30, names)))
            guard let signature = SecKeyCreateSignature(key, kind.algorithm, body as CFData, &error) as Data? else {
                throw error!.takeRetainedValue()
            }
            let der = value(0x30, body, signer, value(3, Data([0]), signature))
            let certificate = try #require(SecCertificateCreateWithData(nil, der as CFData))
            return (certificate, try #require(SecIdentityCreate(nil, certificate, key)))
        }

        private static func parameters(_ tune: (sec_protocol_options_t) -> Void) -> NWParameters {
            let options = NWProtocolTLS.Options()
            tune(options.securityProtocolOptions)
            return NWParameters(tls: options)
        }

        @Test("A program makes a key, certifies it itself and serves with it", arguments: kinds)
        func serve(_ kind: Kind) async throws {
            let (certificate, identity) = try Self.makeIdentity(kind)
            let server = Self.parameters {
                sec_protocol_options_set_local_identity($0, sec_identity_create(identity)!)
            }
            let client = Self.parameters {
                sec_protocol_options_set_tls_server_name($0, "server.test")
                sec_protocol_options_set_verify_block(
                    $0,
                    { _, trust, complete in
                        let trust = sec_trust_copy_ref(trust).takeRetainedValue()
                        SecTrustSetAnchorCertificates(trust, [certificate] as CFArray)
                        complete(SecTrustCopyKey(trust) != nil && SecTrustEvaluateWithError(trust, nil))
                    }, DispatchQueue(label: "verify"))
            }
            try await StackPair.with(client: client, server: server) { pair in
                try await pair.client.deliver(Data("question".utf8))
                #expect(try await pair.server.receive().text == "question")
                try await pair.server.deliver(Data("answer".utf8))
                #expect(try await pair.client.receive().text == "answer")
            }
        }
    }
}
