import CCausewayOpenSSLHeaders
import CausewayTLS
import CausewayTypes
import Foundation
import Testing

@Suite("OpenSSL at run time")
struct LibraryTests {
    @Test("The library is found")
    func loads() throws { #expect(try OpenSSLLibrary.version().hasPrefix("OpenSSL 3.")) }

    @Test("A missing library is one error that names the package")
    func missing() throws {
        let problem = try #require(OpenSSLLibrary.probe(crypto: "libcrypto.so.3", ssl: "libnosuchssl.so.3"))
        #expect(problem.contains("libssl3") && problem.contains("libnosuchssl.so.3"))
        #expect(OpenSSLLibrary.probe(crypto: "libnosuchcrypto.so.3", ssl: "libssl.so.3")?.contains("libssl3") == true)
        #expect(OpenSSLLibrary.probe(crypto: "libcrypto.so.3", ssl: "libssl.so.3") == nil)
    }

    @Test("A library with missing functions is refused, and the first missing one is named")
    func wrongLibrary() throws {
        let problem = try #require(OpenSSLLibrary.probe(crypto: "libc.so.6", ssl: "libc.so.6"))
        #expect(problem.contains("OpenSSL_version_num"))
    }

    static let hasHeaders: Bool = {
        let isInstalled = cw_headers_are_installed()
        if !isInstalled { print("SKIPPED: no headers of OpenSSL 3; install libssl-dev") }
        return isInstalled
    }()

    @Test("Every prototype and number equals that of the installed headers", .enabled(if: hasHeaders))
    func headers() {
        var count = 0
        while let name = cw_compare_with_headers(CInt(count)).name {
            #expect(cw_compare_with_headers(CInt(count)).is_equal, "\(String(cString: name)) differs")
            count += 1
        }
        #expect(count > 200)
    }
}
