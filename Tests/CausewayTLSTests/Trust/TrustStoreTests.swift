import Foundation
import Synchronization
import Testing

@testable import CausewayTLS

@Suite("The system's authorities")
struct TrustStoreTests {
    @Test("The environment overrides the usual places")
    func places() {
        let usual = SystemAnchorPlaces(environment: [:])
        #expect(usual.files.contains("/etc/ssl/certs/ca-certificates.crt") && !usual.folders.isEmpty)
        let file = SystemAnchorPlaces(environment: ["SSL_CERT_FILE": "/a"])
        #expect(file.files == ["/a"] && file.folders.isEmpty)
        let folders = SystemAnchorPlaces(environment: ["SSL_CERT_DIR": "/a:/b"])
        #expect(folders.files.isEmpty && folders.folders == ["/a", "/b"])
        #expect(SystemAnchorPlaces(environment: ["SSL_CERT_FILE": "", "SSL_CERT_DIR": ""]).files == usual.files)
    }

    @Test("A folder is read once per certificate, without other files; an empty folder means no trusted authority")
    func folder() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("causeway-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func write(_ name: String, _ der: [UInt8]) throws {
            let body = Data(der).base64EncodedString(options: .lineLength64Characters)
            try Data("-----BEGIN CERTIFICATE-----\n\(body)\n-----END CERTIFICATE-----\n".utf8)
                .write(to: folder.appendingPathComponent(name))
        }
        let environment = ["SSL_CERT_DIR": folder.path]
        #expect(SystemAnchorPlaces(environment: environment).read().isEmpty)
        try write("a.pem", Authority.shared.certificate.der)
        try write("b.0", Authority.shared.certificate.der)
        try Data("nothing".utf8).write(to: folder.appendingPathComponent("readme"))
        #expect(SystemAnchorPlaces(environment: environment).read() == [Authority.shared.certificate.der])
        let file = folder.appendingPathComponent("a.pem").path
        #expect(SystemAnchorPlaces(environment: ["SSL_CERT_FILE": file]).read().count == 1)
        #expect(SystemAnchorPlaces(environment: ["SSL_CERT_FILE": "/nowhere"]).read().isEmpty)
    }

    @Test("A damaged block does not hide the blocks after it")
    func damagedBundle() throws {
        let body = Data(Authority.shared.certificate.der).base64EncodedString(options: .lineLength64Characters)
        let good = "-----BEGIN CERTIFICATE-----\n\(body)\n-----END CERTIFICATE-----\n"
        let bad = "-----BEGIN CERTIFICATE-----\nMAMCAQE=\n-----END CERTIFICATE-----\n"
        #expect(try Certificate.all(pem: Array((good + bad + good).utf8)).count == 2)
    }

    @Test("Blocks that cannot be decoded, and other blocks, are skipped in the system's bundle")
    func blocks() {
        let der = Authority.shared.certificate.der
        let body = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithCarriageReturn])
        let good = "# a comment\r\n-----BEGIN CERTIFICATE-----\r\n\(body)\r\n-----END CERTIFICATE-----\r\n"
        let others = "-----BEGIN X509 CRL-----\nMAMCAQE=\n-----END X509 CRL-----\n-----BEGIN CERTIFICATE-----\n"
        #expect(SystemAnchorPlaces.blocks(in: Array((good + others + good + others).utf8)) == [der, der])
    }

    @Test("The system's authorities are found by name, without regard to case and extra spaces")
    func byName() throws {
        let anchors = SystemAnchors([Authority.shared.certificate.der, [1, 2, 3]])
        #expect(anchors.count == 1)
        let leaf = try ParsedCertificate(try Authority.shared.issue().certificates[0])
        #expect(anchors.anchors(named: leaf.fields.issuer).map(\.certificate) == [Authority.shared.certificate])
        #expect(anchors.anchors(named: leaf.fields.subject).isEmpty)
        let shouting = try ParsedCertificate(Authority(" TEST  Root ").certificate)
        #expect(anchors.anchors(named: shouting.fields.subject).count == 1)
    }

    @Test("The system's authorities are read only when a chain is verified, and only if they are trusted")
    func later() throws {
        let count = Mutex(0)
        func store(_ settings: TrustSettings) -> TrustStore {
            TrustStore(settings) {
                count.withLock { $0 += 1 }
                return SystemAnchors([Authority.shared.certificate.der])
            }
        }
        let leaf = try Identities.server.get().certificates
        func isTrusted(_ settings: TrustSettings) -> Bool {
            let trust = PeerTrust(
                certificates: leaf, role: .server, reference: .name("server.test"), settings: settings,
                store: store(settings))
            return (try? trust.evaluate()) != nil
        }
        var settings = TrustSettings()
        settings.time = Authority.now
        _ = store(settings)
        #expect(count.withLock { $0 } == 0)
        #expect(isTrusted(settings) && count.withLock { $0 } > 0)
        count.withLock { $0 = 0 }
        #expect(!isTrusted(.anchored()) && isTrusted(.anchored(.shared)) && count.withLock { $0 } == 0)
    }
}
