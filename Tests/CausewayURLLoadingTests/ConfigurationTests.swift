import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("URLSessionConfiguration (§2)")
struct ConfigurationTests {
    @Test("Default settings")
    func defaults() {
        let configuration = URLSessionConfiguration.default
        #expect(configuration.timeoutIntervalForRequest == 60)
        #expect(configuration.timeoutIntervalForResource == 604_800)
        #expect(configuration.requestCachePolicy == .useProtocolCachePolicy)
        #expect(configuration.httpMaximumConnectionsPerHost == 6)
        #expect(configuration.httpCookieAcceptPolicy == .onlyFromMainDocumentDomain)
        #expect(configuration.tlsMinimumSupportedProtocolVersion.rawValue == 771)
        #expect(configuration.tlsMaximumSupportedProtocolVersion == .TLSv13)
        #expect(configuration.httpShouldSetCookies && configuration.allowsCellularAccess)
        #expect(!configuration.waitsForConnectivity && !configuration.allowsUltraConstrainedNetworkAccess)
        #expect(configuration.identifier == nil && configuration.httpAdditionalHeaders == nil)
        #expect(configuration.urlCache === URLCache.shared)
        #expect(configuration.httpCookieStorage === HTTPCookieStorage.shared)
        #expect(configuration.urlCredentialStorage === URLCredentialStorage.shared)
        #expect(configuration.protocolClasses?.isEmpty == false)
        #expect(configuration.multipathServiceType == .none && configuration.usesClassicLoadingMode)
    }

    @Test("The kinds of session")
    func kinds() {
        let one = URLSessionConfiguration.ephemeral
        #expect(one.urlCache?.diskCapacity == 0 && one.urlCache?.memoryCapacity == 512_000)
        #expect(one.httpCookieStorage !== HTTPCookieStorage.shared)
        #expect(one.httpCookieStorage !== URLSessionConfiguration.ephemeral.httpCookieStorage)
        let background = URLSessionConfiguration.background(withIdentifier: "id")
        #expect(background.identifier == "id" && background.urlCache == nil && background.waitsForConnectivity)
    }

    @Test("A session uses a copy, and hands copies out")
    func copies() {
        let configuration = URLSessionConfiguration.default
        let session = URLSession(configuration: configuration)
        configuration.timeoutIntervalForRequest = 5
        session.configuration.timeoutIntervalForRequest = 6
        #expect(session.configuration.timeoutIntervalForRequest == 60)
        let copy = configuration.copy() as? URLSessionConfiguration
        configuration.httpAdditionalHeaders = ["A": "b"]
        #expect(copy?.timeoutIntervalForRequest == 5 && copy?.httpAdditionalHeaders == nil)
    }

    @Test("The values of a request win over those of the session, unless the session is stricter")
    func combines() {
        let configuration = URLSessionConfiguration.default
        configuration.httpAdditionalHeaders = ["accept": "session", "X": 1]
        configuration.allowsExpensiveNetworkAccess = false
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        let session = URLSession(configuration: configuration)
        var request = URLRequest(url: URL(string: "http://example.com")!)
        request.setValue("request", forHTTPHeaderField: "Accept")
        let completed = session.core.completed(request)
        #expect(completed.allHTTPHeaderFields == ["Accept": "request", "X": "1"])
        #expect(!completed.allowsExpensiveNetworkAccess && completed.allowsCellularAccess)
        #expect(completed.cachePolicy == .reloadIgnoringLocalCacheData)
    }
}
