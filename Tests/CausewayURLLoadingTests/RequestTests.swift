import Foundation
import Testing

@testable import CausewayURLLoading

@Suite("URLRequest, NSURLRequest and NSMutableURLRequest (§7, §20)")
struct RequestTests {
    let url = URL(string: "http://example.com/a")!

    @Test("A new request has the documented values")
    func initialValues() {
        let request = URLRequest(url: url)
        #expect(request.url == url)
        #expect(request.httpMethod == "GET")
        #expect(request.allHTTPHeaderFields == nil)
        #expect(request.timeoutInterval == 60)
        #expect(request.cachePolicy == .useProtocolCachePolicy)
        #expect(request.httpShouldHandleCookies)
        #expect(request.allowsCellularAccess && request.allowsExpensiveNetworkAccess)
        #expect(!request.allowsUltraConstrainedNetworkAccess && !request.assumesHTTP3Capable)
        #expect(request.mainDocumentURL == nil && request.httpBody == nil && request.httpBodyStream == nil)
    }

    @Test(
        "Some methods become upper case",
        arguments: [
            ("get", "GET"), ("dELETe", "DELETE"), ("connect", "CONNECT"), ("patch", "patch"), ("PATCH", "PATCH"),
            ("options", "options"), ("foo", "foo"),
        ])
    func normalizesMethods(method: String, expected: String) {
        var request = URLRequest(url: url)
        request.httpMethod = method
        #expect(request.httpMethod == expected)
        request.httpMethod = nil
        #expect(request.httpMethod == "GET")
    }

    @Test("Field names compare without case and keep their first spelling")
    func setsFields() {
        var request = URLRequest(url: url)
        request.setValue("a", forHTTPHeaderField: "Accept")
        request.setValue("b", forHTTPHeaderField: "accept")
        #expect(request.allHTTPHeaderFields == ["Accept": "b"])
        request.addValue("c", forHTTPHeaderField: "ACCEPT")
        #expect(request.value(forHTTPHeaderField: "accept") == "b,c")
        request.setValue(nil, forHTTPHeaderField: "aCCept")
        #expect(request.allHTTPHeaderFields == [:])
        request.allHTTPHeaderFields = ["X": "1", "Y": "2"]
        #expect(request.value(forHTTPHeaderField: "x") == "1")
    }

    @Test("Data and stream exclude each other")
    func bodies() {
        var request = URLRequest(url: url)
        request.httpBody = Data([1])
        request.httpBodyStream = InputStream(data: Data())
        #expect(request.httpBody == nil)
        request.httpBody = Data([2])
        #expect(request.httpBodyStream == nil)
    }

    @Test("A copy does not change with the original")
    func copies() {
        var one = URLRequest(url: url)
        one.httpMethod = "POST"
        var other = one
        other.httpMethod = "PUT"
        other.setValue("1", forHTTPHeaderField: "X")
        #expect(one.httpMethod == "POST")
        #expect(one.allHTTPHeaderFields == nil)

        let object = NSMutableURLRequest(url: url)
        let copy = object.copy() as? NSURLRequest
        object.httpMethod = "PUT"
        #expect(copy?.httpMethod == "GET")
        #expect(!(copy is NSMutableURLRequest))
        #expect((copy?.mutableCopy() as? NSMutableURLRequest)?.url == url)
    }

    @Test("Structure and classes convert into each other, with the properties of URLProtocol")
    func bridges() throws {
        let object = NSMutableURLRequest(url: url)
        object.httpMethod = "POST"
        URLProtocol.setProperty("value", forKey: "key", in: object)
        let request = object as URLRequest
        #expect(request.httpMethod == "POST")
        #expect(URLProtocol.property(forKey: "key", in: request) as? String == "value")
        let back = request as NSURLRequest
        #expect(back.isEqual(object))
        let again = try #require(back.mutableCopy() as? NSMutableURLRequest)
        #expect(URLProtocol.property(forKey: "key", in: again as URLRequest) as? String == "value")
        URLProtocol.removeProperty(forKey: "key", in: again)
        #expect(URLProtocol.property(forKey: "key", in: again as URLRequest) == nil)
        #expect(URLProtocol.property(forKey: "key", in: request) != nil)
    }

    @Test("Equality covers all values, and the order of fields does not matter")
    func compares() {
        var one = URLRequest(url: url)
        var other = URLRequest(url: url)
        one.setValue("1", forHTTPHeaderField: "A")
        one.setValue("2", forHTTPHeaderField: "B")
        other.setValue("2", forHTTPHeaderField: "B")
        other.setValue("1", forHTTPHeaderField: "A")
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
        other.setValue("3", forHTTPHeaderField: "B")
        #expect(one != other)
        other = one
        other.allowsCellularAccess = false
        #expect(one != other)
        other = one
        other.httpBody = Data([1])
        #expect(one != other)
    }

    @Test("An archive keeps everything but the stream")
    func archives() throws {
        let object = NSMutableURLRequest(url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: 7)
        object.httpMethod = "POST"
        object.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        object.httpBody = Data("body".utf8)
        object.networkServiceType = .responsiveData
        object.attribution = .user
        object.httpShouldHandleCookies = false
        let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSMutableURLRequest.self, from: data)
        #expect(read?.isEqual(object) == true)
    }

    @Test("A relative URL becomes absolute")
    func relativeURL() {
        let relative = URL(string: "/get", relativeTo: URL(string: "http://example.com"))!
        #expect(URLRequest(url: relative).url?.baseURL == nil)
        #expect(URLRequest(url: relative).description == "http://example.com/get")
    }

    @Test("A request as a command line of curl")
    func curlCommand() {
        var request = URLRequest(url: URL(string: "http://example.com/a?b")!)
        request.setValue("Bearer t", forHTTPHeaderField: "Authorization")
        #expect(request.curlCommand() == "curl -H 'Authorization: (hidden)' 'http://example.com/a?b'")
        #expect(request.curlCommand(showsSecrets: true) == "curl -H 'Authorization: Bearer t' 'http://example.com/a?b'")
        request.httpMethod = "PUT"
        request.httpBodyStream = InputStream(data: Data())
        #expect(request.curlCommand().contains("-X PUT") && request.curlCommand().contains("--data-binary @-"))
    }
}
