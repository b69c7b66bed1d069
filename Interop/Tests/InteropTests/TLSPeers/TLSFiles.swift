import Causeway
import Foundation
import Testing

/// Certificates, keys and OCSP responses, created once by OpenSSL for all tests of a run.
///
/// `root` issues `ec`, `rsa` and `ed25519` for `server.test`, and `client`; `other` issues `outsider`.
struct TLSFiles: Sendable {
    enum Key: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case ec, rsa, ed25519

        var testDescription: String { rawValue }
    }

    let folder: URL

    private static let made = Task { try await make() }

    static var shared: TLSFiles { get async throws { try await made.value } }

    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
    func certificate(_ name: String) -> String { path("\(name).pem") }
    func key(_ name: String) -> String { path("\(name).key") }

    func anchor(_ name: String = "root") throws -> SecCertificate {
        let lines = try String(contentsOfFile: certificate(name), encoding: .utf8).split(separator: "\n")
        let der = try #require(Data(base64Encoded: lines.filter { !$0.hasPrefix("-") }.joined()))
        return try #require(SecCertificateCreateWithData(nil, der as CFData))
    }

    func identity(_ name: String) throws -> sec_identity_t {
        try #require(sec_identity_create(try SecIdentity(certificateFile: certificate(name), keyFile: key(name))))
    }

    private static func make() async throws -> TLSFiles {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("nw-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        madeFolder = folder.path
        atexit { if let folder = TLSFiles.madeFolder { try? FileManager.default.removeItem(atPath: folder) } }
        try Data(configuration.utf8).write(to: folder.appendingPathComponent("openssl.conf"))
        try await Scratch.run { scratch in
            let maker = try scratch.startProgram("sh", ["-ec", "cd \(folder.path); \(script)"])
            try #require(try await maker.finished() == 0, "\(maker.errors)")
        }
        return TLSFiles(folder: folder)
    }

    // SAFETY: the value is written once. The handler that reads it is registered only after that.
    private nonisolated(unsafe) static var madeFolder: String?

    private static let configuration = """
        [req]
        distinguished_name = name
        prompt = no
        [name]
        CN = unused
        [authority]
        basicConstraints = critical,CA:TRUE
        keyUsage = critical,keyCertSign,cRLSign,digitalSignature
        subjectKeyIdentifier = hash
        [server]
        basicConstraints = critical,CA:FALSE
        keyUsage = critical,digitalSignature
        extendedKeyUsage = serverAuth
        subjectAltName = DNS:server.test
        subjectKeyIdentifier = hash
        authorityKeyIdentifier = keyid
        [client]
        basicConstraints = critical,CA:FALSE
        keyUsage = critical,digitalSignature
        extendedKeyUsage = clientAuth
        subjectAltName = DNS:client.test
        subjectKeyIdentifier = hash
        authorityKeyIdentifier = keyid

        """

    private static let script = """
        new() { openssl req -x509 -config openssl.conf -days 2 -nodes -keyout $1.key -out $1.pem -subj "/CN=$2" \
                    -extensions $3 $4; }
        curve='-newkey ec -pkeyopt ec_paramgen_curve:prime256v1'
        new root 'Interop Authority' authority "$curve"
        new other 'Other Authority' authority "$curve"
        by='-CA root.pem -CAkey root.key'
        new ec server.test server "$curve $by"
        new rsa server.test server "-newkey rsa:2048 $by"
        new ed25519 server.test server "-newkey ed25519 $by"
        new client client.test client "$curve $by"
        new outsider client.test client "$curve -CA other.pem -CAkey other.key"
        serial=$(openssl x509 -in ec.pem -noout -serial | cut -d= -f2)
        printf 'V\\t491231235959Z\\t\\t%s\\tunknown\\t/CN=server.test\\n' $serial > good.index
        printf 'R\\t491231235959Z\\t250101000000Z\\t%s\\tunknown\\t/CN=server.test\\n' $serial > revoked.index
        openssl ocsp -issuer root.pem -cert ec.pem -no_nonce -reqout ocsp.request
        for status in good revoked; do
            openssl ocsp -index $status.index -CA root.pem -rsigner root.pem -rkey root.key -reqin ocsp.request \
                -respout $status.ocsp -ndays 2
        done
        """
}
