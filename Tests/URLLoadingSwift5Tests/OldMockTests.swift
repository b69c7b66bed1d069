// Mocks, written as in test suites for Apple platforms. Each is a subclass with its own initializer, which calls the
// plain initializer of NSObject. Mocks of metrics omit this call. Swift permits this only if the superclass has no
// other designated initializer.
import CausewayURLLoading
import Foundation
import Testing

class MockResponse: HTTPURLResponse, @unchecked Sendable {
    let code: Int
    init(code: Int) {
        self.code = code
        super.init()
    }
    required init?(coder: NSCoder) { return nil }
    override var statusCode: Int { code }
}

class MockPlainResponse: URLResponse, @unchecked Sendable {
    let type: String
    init(type: String) {
        self.type = type
        super.init()
    }
    required init?(coder: NSCoder) { return nil }
    override var mimeType: String? { type }
}

class MockCache: URLCache, @unchecked Sendable {
    let name: String
    init(name: String) {
        self.name = name
        super.init()
    }
}

class MockSizedCache: URLCache, @unchecked Sendable {
    override init() { super.init(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil) }
}

class MockCached: CachedURLResponse, @unchecked Sendable {
    let text: String
    init(text: String) {
        self.text = text
        super.init()
    }
    required init?(coder: NSCoder) { return nil }
    override var data: Data { Data(text.utf8) }
}

class MockChallenge: URLAuthenticationChallenge, @unchecked Sendable {
    let space: URLProtectionSpace
    init(space: URLProtectionSpace) {
        self.space = space
        super.init()
    }
    required init?(coder: NSCoder) { return nil }
    override var protectionSpace: URLProtectionSpace { space }
}

class MockSpace: URLProtectionSpace, @unchecked Sendable {
    let name: String
    init(name: String) {
        self.name = name
        super.init()
    }
    required init?(coder: NSCoder) { return nil }
    override var host: String { name }
}

class MockCredential: URLCredential, @unchecked Sendable {
    let name: String
    init(name: String) {
        self.name = name
        super.init()
    }
    required init?(coder: NSCoder) { return nil }
    override var user: String? { name }
}

class MockRequest: NSURLRequest, @unchecked Sendable {
    let path: String
    init(path: String) {
        self.path = path
        super.init()
    }
    required init?(coder: NSCoder) { return nil }
    override var url: URL? { URL(string: "mock:" + path) }
}

class MockMutableRequest: NSMutableURLRequest, @unchecked Sendable {
    let path: String
    init(path: String) {
        self.path = path
        super.init()
    }
    required init?(coder: NSCoder) { return nil }
}

class MockCookie: HTTPCookie, @unchecked Sendable {
    let text: String
    init(text: String) {
        self.text = text
        super.init()
    }
    override var value: String { text }
}

class MockMetrics: URLSessionTaskMetrics, @unchecked Sendable {
    let interval: DateInterval
    init(_ interval: DateInterval) { self.interval = interval }
    override var taskInterval: DateInterval { interval }
}

class MockTransaction: URLSessionTaskTransactionMetrics, @unchecked Sendable {
    let date: Date
    init(_ date: Date) { self.date = date }
    override var fetchStartDate: Date? { date }
}

@Suite("Mocks of old test suites")
struct OldMockTests {
    @Test("A mock has the values that its initializer sets")
    func mocks() {
        let interval = DateInterval(start: Date(timeIntervalSince1970: 1), duration: 2)
        #expect(MockResponse(code: 418).statusCode == 418)
        #expect(MockPlainResponse(type: "a/b").mimeType == "a/b")
        #expect(MockCache(name: "a").name == "a" && MockSizedCache().memoryCapacity == 1 << 20)
        #expect(MockCached(text: "a").data == Data("a".utf8))
        #expect(MockChallenge(space: MockSpace(name: "a.test")).protectionSpace.host == "a.test")
        #expect(MockCredential(name: "u").user == "u")
        #expect(MockRequest(path: "a").url?.absoluteString == "mock:a")
        #expect(MockMutableRequest(path: "a").url == nil)
        #expect(MockCookie(text: "v").value == "v")
        #expect(MockMetrics(interval).taskInterval == interval && MockMetrics(interval).transactionMetrics.isEmpty)
        #expect(MockTransaction(interval.start).fetchStartDate == interval.start)
    }

    @Test("An object of the plain initializer has no values")
    func plain() {
        #expect(URLResponse().url == nil && URLResponse().expectedContentLength == -1)
        #expect(HTTPURLResponse().statusCode == 0 && HTTPURLResponse().allHeaderFields.isEmpty)
        #expect(URLCache().memoryCapacity == 0 && URLCache().diskCapacity == 0)
        #expect(CachedURLResponse().data.isEmpty && CachedURLResponse().storagePolicy == .allowed)
        #expect(URLAuthenticationChallenge().sender == nil && URLAuthenticationChallenge().previousFailureCount == 0)
        #expect(URLProtectionSpace().host.isEmpty && URLProtectionSpace().realm == nil)
        #expect(URLCredential().user == nil && URLCredential().password == nil && URLCredential().identity == nil)
        #expect(NSURLRequest().url == nil && NSURLRequest().httpMethod == "GET")
        #expect(HTTPCookie().name.isEmpty && HTTPCookie().expiresDate == nil)
        #expect(URLSessionTaskMetrics().redirectCount == 0)
        #expect(URLSessionTaskTransactionMetrics().request.url == nil)
        let request = NSMutableURLRequest()
        request.url = URL(string: "http://example.com/")
        #expect((request as URLRequest).url?.host == "example.com")
    }

    @Test("A mock of a cookie or a credential is no way around the rules of a store")
    func stores() {
        let cookies = HTTPCookieStorage()
        cookies.setCookie(HTTPCookie())
        #expect(cookies.cookies(for: URL(string: "http://example.com/")!)?.isEmpty == true)
        let credentials = URLCredentialStorage()
        credentials.set(URLCredential(), for: URLProtectionSpace())
        #expect(credentials.allCredentials.isEmpty)
    }
}
