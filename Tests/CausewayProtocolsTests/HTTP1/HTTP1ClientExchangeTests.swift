import CausewayWire
import Testing

@testable import CausewayProtocols

@Suite("The meaning of response heads (RFC 9112 §6.3, §9.3)")
struct HTTP1ClientExchangeTests {
    private func begun(_ method: String, _ section: FieldSection = fields(("Host", "h"))) -> HTTP1ClientExchange {
        HTTP1ClientExchange(HTTPRequestHead(method: method, target: "/", fields: section))
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let method: String
        let status: Int
        let section: FieldSection
        let meaning: HTTP1ClientExchange.Meaning
        let persists: Bool

        var testDescription: String { "\(method) \(status) \(section)" }
    }

    static let rows = [
        Row(
            method: "GET", status: 200, section: fields(("Content-Length", "3")), meaning: .responded(.length(3)),
            persists: true),
        Row(method: "GET", status: 200, section: fields(), meaning: .responded(.untilEnd), persists: false),
        Row(
            method: "GET", status: 200, section: fields(("Content-Length", "3"), ("Connection", "close")),
            meaning: .responded(.length(3)), persists: false),
        Row(
            method: "HEAD", status: 200, section: fields(("Content-Length", "3")), meaning: .responded(.none),
            persists: true),
        Row(
            method: "GET", status: 204, section: fields(("Content-Length", "3")), meaning: .responded(.none),
            persists: false),
        Row(
            method: "CONNECT", status: 200, section: fields(("Content-Length", "3")), meaning: .upgraded,
            persists: true),
        Row(
            method: "CONNECT", status: 407, section: fields(("Content-Length", "3")), meaning: .responded(.length(3)),
            persists: true),
        Row(method: "GET", status: 103, section: fields(), meaning: .interim, persists: true),
    ]

    @Test("A head has one meaning, which depends on the request", arguments: rows)
    func meaning(row: Row) throws {
        var exchange = begun(row.method)
        let response = HTTPResponseHead(status: row.status, fields: row.section)
        let meaning = try exchange.received(response, informationalLimit: 1)
        #expect(meaning == row.meaning)
        #expect(exchange.persists == row.persists)
    }

    @Test("One interim response too many is a failure")
    func interim() throws {
        var exchange = begun("GET")
        #expect(exchange.isUnanswered)
        for _ in 0..<2 {
            let meaning = try exchange.received(HTTPResponseHead(status: 103), informationalLimit: 2)
            #expect(meaning == .interim)
        }
        #expect(!exchange.isUnanswered)
        #expect(throws: HTTP1Failure.tooManyInformationalResponses(limit: 2)) {
            _ = try exchange.received(HTTPResponseHead(status: 103), informationalLimit: 2)
        }
    }

    @Test("Status 101 needs a request for it (RFC 9110 §15.2.2)")
    func upgrade() throws {
        var unasked = begun("GET")
        #expect(throws: HTTP1Failure.unexpectedUpgrade) {
            _ = try unasked.received(HTTPResponseHead(status: 101), informationalLimit: 2)
        }
        var asked = begun("GET", fields(("Host", "h"), ("Upgrade", "x")))
        let meaning = try asked.received(HTTPResponseHead(status: 101), informationalLimit: 2)
        #expect(meaning == .upgraded)
    }

    @Test("A response does not revive a connection that its request closes")
    func closing() throws {
        var exchange = begun("GET", fields(("Host", "h"), ("Connection", "close")))
        _ = try exchange.received(
            HTTPResponseHead(status: 200, fields: fields(("Content-Length", "0"), ("Keep-Alive", "max=5"))),
            informationalLimit: 1)
        #expect(!exchange.persists)
        #expect(exchange.keepAlive.maximum == 5)
    }
}
