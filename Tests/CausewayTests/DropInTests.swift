// This file imports only this module, like a program that was written for Apple's framework and not changed.
import Network
import Testing

@Suite("The drop-in module")
struct DropInTests {
    @Test("Queues compare by identity, through any reference")
    func queues() {
        let queue = DispatchQueue(label: "one")
        let other = DispatchQueue(label: "one")
        let absent: DispatchQueue? = nil
        #expect(queue == queue)
        #expect(queue != other)
        #expect(DispatchQueue.main == DispatchQueue.main)
        #expect(DispatchQueue.main != DispatchQueue.global())
        #expect(DispatchQueue.global() == DispatchQueue.global())
        #expect(absent != queue)
    }

    @Test("Dispatch data converts to the types that pre-shared-key programs use")
    func dispatchData() {
        let key = Data("secret".utf8).withUnsafeBytes { DispatchData(bytes: $0) }
        let first: __DispatchData = key as __DispatchData
        let second = key as dispatch_data_t
        #expect(Data(first) == Data("secret".utf8))
        #expect(Data(second) == Data("secret".utf8))
    }

    @Test("Errors have a domain and a code as NSError")
    func errors() {
        let error = NWError.posix(.ECONNREFUSED) as NSError
        #expect(error.code == Int(POSIXErrorCode.ECONNREFUSED.rawValue))
        #expect(error.domain.contains("NWError"))
    }

    @Test("Qualified names, Foundation and URL loading are visible")
    func names() {
        let endpoint: Network.NWEndpoint = .hostPort(host: "192.0.2.1", port: 7)
        #expect(endpoint.debugDescription == "192.0.2.1:7")
        #expect(Network.NWParameters.tcp.serviceClass == .bestEffort)
        #expect(URLRequest(url: URL(fileURLWithPath: "/")).httpMethod == "GET")
        #expect(String(reflecting: URLSession.self) == "CausewayURLLoading.URLSession")
        let version: tls_protocol_version_t = .TLSv12
        let options = NWProtocolTLS.Options().securityProtocolOptions
        sec_protocol_options_set_min_tls_protocol_version(options, version)
        URLSessionConfiguration.ephemeral.tlsMinimumSupportedProtocolVersion = version
    }
}
