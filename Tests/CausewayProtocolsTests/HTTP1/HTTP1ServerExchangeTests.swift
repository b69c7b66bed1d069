import CausewayWire
import Testing

@testable import CausewayProtocols

@Suite("Responses of an HTTP/1.1 server (RFC 9112 §6.3, §9.3)")
struct HTTP1ServerExchangeTests {
    private func begun(
        _ method: String, _ section: FieldSection = fields(("Host", "h")), version: HTTPVersion = .http11
    ) throws -> HTTP1ServerExchange {
        var exchange = HTTP1ServerExchange()
        let target = method == "CONNECT" ? "h:1" : "/"
        let request = HTTPRequestHead(method: method, target: target, version: version, fields: section)
        _ = try exchange.requested(request)
        return exchange
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let method: String
        let version: HTTPVersion
        let status: Int
        let length: HTTP1BodyLength
        let fields: String
        let persists: Bool

        var testDescription: String { "\(method) \(version.major).\(version.minor) \(status) \(length)" }
    }

    static let rows = [
        Row(
            method: "GET", version: .http11, status: 200, length: .length(5), fields: "Content-Length: 5\r\n",
            persists: true),
        Row(
            method: "GET", version: .http11, status: 200, length: .none, fields: "Content-Length: 0\r\n",
            persists: true),
        Row(
            method: "GET", version: .http11, status: 200, length: .chunked, fields: "Transfer-Encoding: chunked\r\n",
            persists: true),
        Row(
            method: "GET", version: .http10, status: 200, length: .chunked, fields: "Connection: close\r\n",
            persists: false),
        Row(
            method: "GET", version: .http11, status: 200, length: .untilEnd, fields: "Connection: close\r\n",
            persists: false),
        Row(method: "HEAD", version: .http11, status: 200, length: .untilEnd, fields: "", persists: true),
        Row(method: "GET", version: .http11, status: 204, length: .none, fields: "", persists: true),
    ]

    @Test("The head states the framing that its client understands", arguments: rows)
    func framing(row: Row) throws {
        var exchange = try begun(row.method, version: row.version)
        var output = ByteChain()
        try exchange.respond(HTTPResponseHead(status: row.status), body: row.length, to: &output)
        #expect(output.text == "HTTP/1.1 \(row.status) \r\n\(row.fields)\r\n")
        #expect(exchange.persists == row.persists)
        #expect(exchange.hasResponded)
    }

    @Test("The content of a response without a body is discarded (RFC 9110 §9.3.2)")
    func discarded() throws {
        var exchange = try begun("HEAD")
        var output = ByteChain()
        try exchange.respond(HTTPResponseHead(status: 200), body: .length(5), to: &output)
        output = ByteChain()
        try exchange.append(Array("too long".utf8)[...], to: &output)
        try exchange.end(FieldSection(), to: &output)
        #expect(output.isEmpty)
    }

    @Test("A response that cannot be sent leaves the state unchanged")
    func unsendable() throws {
        var exchange = try begun("GET")
        var output = ByteChain()
        let head = HTTPResponseHead(status: 204, fields: fields(("Content-Length", "0"), ("Connection", "close")))
        #expect(throws: HTTP1Failure.unwritable(.unwritable("field Content-Length"))) {
            try exchange.respond(head, body: .none, to: &output)
        }
        #expect(exchange.awaitsResponse)
        #expect(exchange.persists)
        #expect(output.isEmpty)
    }

    @Test("The stream leaves HTTP only after a whole request that asked for it (RFC 9110 §9.3.6, §15.2.2)")
    func upgrade() throws {
        var output = ByteChain()
        let switching = HTTPResponseHead(status: 101)
        var unasked = try begun("GET")
        #expect(unasked.isUpgrade(switching))
        #expect(throws: HTTP1Failure.misuse("upgrade without request")) {
            try unasked.upgrade(switching, isComplete: true, to: &output)
        }
        var tunnel = try begun("CONNECT")
        let accepted = HTTPResponseHead(status: 200)
        #expect(tunnel.isUpgrade(accepted))
        #expect(!tunnel.isUpgrade(HTTPResponseHead(status: 407)))
        #expect(throws: HTTP1Failure.misuse("upgrade before the end of the request")) {
            try tunnel.upgrade(accepted, isComplete: false, to: &output)
        }
        #expect(output.isEmpty && tunnel.awaitsResponse)
        try tunnel.upgrade(accepted, isComplete: true, to: &output)
        #expect(output.text == "HTTP/1.1 200 \r\n\r\n" && tunnel.hasResponded)
    }

    @Test("A client waits for status 100, or until it sends content (RFC 9110 §10.1.1)")
    func expectation() throws {
        let expecting = fields(("Host", "h"), ("Content-Length", "3"), ("Expect", "100-continue"))
        var output = ByteChain()
        var informed = try begun("POST", expecting)
        #expect(informed.awaitsContinue)
        try informed.inform(HTTPResponseHead(status: 103), to: &output)
        #expect(informed.awaitsContinue)
        try informed.inform(HTTPResponseHead(status: 100), to: &output)
        #expect(!informed.awaitsContinue)
        var impatient = try begun("POST", expecting)
        impatient.contentArrived()
        #expect(!impatient.awaitsContinue)
        output = ByteChain()
        var old = try begun("POST", expecting, version: .http10)
        #expect(!old.awaitsContinue)
        try old.inform(HTTPResponseHead(status: 100), to: &output)
        #expect(output.isEmpty)
    }

    @Test("A request does not revive a connection that ends, and an invalid one changes nothing")
    func requests() throws {
        var exchange = HTTP1ServerExchange()
        let invalid = HTTPRequestHead(method: "GET", target: "x", fields: fields(("Host", "h")))
        #expect(throws: HTTP1Failure.invalidRequest("target")) { _ = try exchange.requested(invalid) }
        #expect(!exchange.awaitsResponse)
        #expect(exchange.persists)
        exchange.forbidPersistence()
        let length = try exchange.requested(
            HTTPRequestHead(method: "GET", target: "/", fields: fields(("Host", "h"))))
        #expect(length == HTTP1BodyLength.none)
        #expect(exchange.awaitsResponse)
        #expect(!exchange.persists)
    }
}
