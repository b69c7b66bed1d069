// The one import that such programs have beside Foundation.
import Security
import Testing

@Suite("The drop-in module Security")
struct SecurityDropInTests {
    @Test("Random octets fill all of the memory, and nothing beyond it")
    func random() {
        var octets = [UInt8](repeating: 0, count: 66)
        let status = octets.withUnsafeMutableBytes { SecRandomCopyBytes(kSecRandomDefault, 64, $0.baseAddress!) }
        #expect(status == errSecSuccess)
        #expect(octets.suffix(2) == [0, 0])
        // Fewer than 17 different ones of 64 happen once in more than 10^30 times.
        #expect(Set(octets.prefix(64)).count > 16)
        #expect(octets.withUnsafeMutableBytes { SecRandomCopyBytes(nil, -1, $0.baseAddress!) } == errSecParam)
    }

    @Test("What verify blocks name is in view")
    func names() {
        let options = NWProtocolTLS.Options()
        sec_protocol_options_set_min_tls_protocol_version(options.securityProtocolOptions, .TLSv12)
        let certificate: SecCertificate? = nil
        let trust: SecTrust? = nil
        #expect(certificate == nil && trust == nil)
    }
}
