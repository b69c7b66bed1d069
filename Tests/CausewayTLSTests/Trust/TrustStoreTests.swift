import Foundation
import Testing

@testable import CausewayTLS

@Suite("The system's authorities")
struct TrustStoreTests {
    @Test("The environment replaces the usual places")
    func places() {
        let usual = SystemAnchorPlaces(environment: [:])
        #expect(usual.files.contains("/etc/ssl/certs/ca-certificates.crt") && !usual.folders.isEmpty)
        let file = SystemAnchorPlaces(environment: ["SSL_CERT_FILE": "/a"])
        #expect(file.files == ["/a"] && file.folders.isEmpty)
        let folders = SystemAnchorPlaces(environment: ["SSL_CERT_DIR": "/a:/b"])
        #expect(folders.files.isEmpty && folders.folders == ["/a", "/b"])
        #expect(SystemAnchorPlaces(environment: ["SSL_CERT_FILE": "", "SSL_CERT_DIR": ""]).files == usual.files)
    }

    @Test("A folder is read, its copies once, its other files not; nothing there is nobody trusted")
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
        #expect(SystemAnchorPlaces(environment: environment).read() == [Authority.shared.certificate])
        let file = folder.appendingPathComponent("a.pem").path
        #expect(SystemAnchorPlaces(environment: ["SSL_CERT_FILE": file]).read().count == 1)
        #expect(SystemAnchorPlaces(environment: ["SSL_CERT_FILE": "/nowhere"]).read().isEmpty)
    }

    @Test("A damaged block does not hide the ones behind it")
    func damagedBundle() throws {
        let body = Data(Authority.shared.certificate.der).base64EncodedString(options: .lineLength64Characters)
        let good = "-----BEGIN CERTIFICATE-----\n\(body)\n-----END CERTIFICATE-----\n"
        let bad = "-----BEGIN CERTIFICATE-----\nMAMCAQE=\n-----END CERTIFICATE-----\n"
        #expect(try Certificate.all(pem: Array((good + bad + good).utf8)).count == 2)
    }

    @Test("The system's own are read once per process")
    func once() throws {
        let first = try TrustStore.store(for: TrustSettings())
        let second = try TrustStore.store(for: TrustSettings())
        #expect(first.object === second.object)
    }
}
