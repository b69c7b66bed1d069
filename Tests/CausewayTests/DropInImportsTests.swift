// Source files that are shared with other platforms import all three modules: Foundation, FoundationNetworking and
// Network.
import Foundation
import FoundationNetworking
import Network
import Testing

@Suite("The drop-in module beside FoundationNetworking")
struct DropInImportsTests {
    @Test("No name is ambiguous")
    func names() {
        let version: tls_protocol_version_t = .TLSv13
        let raw = tls_protocol_version_t.TLSv12.rawValue
        #expect(version.rawValue == 0x0304 && raw == 0x0303)
        #expect(
            Network.tls_protocol_version_t.TLSv12.rawValue
                == FoundationNetworking.tls_protocol_version_t.TLSv12.rawValue)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.proxyConfigurations = [
            ProxyConfiguration(httpCONNECTProxy: .hostPort(host: "192.0.2.1", port: 8080))
        ]
        #expect(configuration.proxyConfigurations.count == 1)
        #expect(URLRequest(url: URL(string: "http://a.test")!).url?.host == "a.test")
    }
}
