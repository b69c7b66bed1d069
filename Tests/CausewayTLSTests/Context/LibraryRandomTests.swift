import CausewayTLS
import Foundation
import Testing

@Suite("Random numbers by OpenSSL")
struct LibraryRandomTests {
    /// Makes OpenSSL's generator fail from now on, in the whole process.
    private static func breakGenerator() throws {
        let library = try #require(dlopen("libcrypto.so.3", RTLD_NOW))
        let symbol = try #require(dlsym(library, "RAND_set_rand_method"))
        let setMethod = unsafeBitCast(symbol, to: (@convention(c) (UnsafeRawPointer) -> CInt).self)
        // The functions of RAND_METHOD: seed, bytes, cleanup, add, pseudorand, status.
        let method = UnsafeMutablePointer<UnsafeRawPointer?>.allocate(capacity: 6)
        method.initialize(repeating: nil, count: 6)
        let fail: @convention(c) (UnsafeMutablePointer<UInt8>?, CInt) -> CInt = { _, _ in 0 }
        method[1] = unsafeBitCast(fail, to: UnsafeRawPointer.self)
        try #require(setMethod(method) == 1)
    }

    @Test("If the generator fails, no DTLS server and no certificate is created")
    func failure() async {
        await #expect(processExitsWith: .success) {
            let server = try TLSContext(.server { $0.usesDatagrams = true })
            var template = CertificateTemplate(subject: "a", notBefore: 0, notAfter: 1)
            // An Ed25519 signature needs no random bytes.
            template.keyKind = .ed25519
            let (issued, holder) = (template, try template.issue())
            try LibraryRandomTests.breakGenerator()
            #expect(throws: TLSFailure.self) { _ = try OpenSSLEngine(server) }
            #expect(throws: TLSFailure.self) { _ = try issued.issue(for: holder) }
        }
    }
}
