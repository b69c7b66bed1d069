@testable import CausewayClient
import CausewayTestKit
import CausewaySystem
import CausewayURLLoading
import Foundation
import Testing

@Suite("Client: XML documents and streams")
struct XMLTests {
    private static func received(_ data: Data, _ type: String = "application/xml") throws -> ReceivedResponse {
        ReceivedResponse(data: data, http: try answer("", ["Content-Type": type]).1)
    }

    private static func parse(_ text: String, _ type: String = "application/xml") throws -> XMLTree {
        try ResponseSerializer.xml.value(of: received(Data(text.utf8), type))
    }

    /// Returns the error message for a document; `nil` if it has no error.
    private static func problem(_ text: String) -> String? {
        do {
            _ = try parse(text)
            return nil
        } catch {
            return (error as? HTTPClientError)?.message
        }
    }

    @Test("A document with too many elements, attributes and texts fails with a message that names all three")
    func nodeLimit() throws {
        var limits = XMLTree.Limits()
        limits.nodes = 3
        #expect(try XMLTree(parsing: Data("<a b='1'>c</a>".utf8), limits: limits).root.text == "c")
        do throws(XMLTree.Problem) {
            _ = try XMLTree(parsing: Data("<a b='1' c='2'>d</a>".utf8), limits: limits)
            Issue.record("no error")
        } catch {
            #expect(error.message == "the document has more than 3 elements, attributes and texts")
        }
    }

    @Test("A text that arrives in many pieces is one node, between elements and around comments")
    func longText() throws {
        let long = String(repeating: "ž", count: 100_000)
        var limits = XMLTree.Limits()
        limits.nodes = 4
        let root = try XMLTree(parsing: Data("<a>\(long)<!-- c -->\(long)<b/>\(long)</a>".utf8), limits: limits).root
        let expected: [XMLTree.Node] = [
            .text(long + long), .element(XMLTree.Element(name: XMLTree.Name("b"))), .text(long),
        ]
        let isEqual = root.children == expected
        #expect(isEqual)
    }

    @Test("M3: an XML document becomes a tree with names, namespaces, attributes and texts")
    func tree() throws {
        let text = """
            <?xml version="1.0"?><!-- c --><a:list xmlns:a="urn:a" xmlns="urn:d" n="1 &lt; 2"><item>one &amp; <b>two</b></item>\
            <item xml:lang="de"><![CDATA[<three>]]></item><a:item/></a:list>
            """
        let root = try Self.parse(text, "application/atom+xml; charset=utf-8").root
        #expect(root.name == XMLTree.Name("list", prefix: "a", namespace: "urn:a") && root.attribute("n") == "1 < 2")
        #expect(root.elements("item").map(\.text) == ["one & two", "<three>", ""])
        #expect(root.elements("item", namespace: "urn:d").count == 2)
        #expect(root["item"]?["b"]?.text == "two" && root["none"] == nil)
        #expect(root.elements[1].attribute("lang") == "de" && root.elements[2].name.description == "a:item")
    }

    @Test("A document that violates XML's rules fails with the place, or is recovered from")
    func malformed() throws {
        #expect(Self.problem("<a>\n<b></a>")?.hasPrefix("line 2, column") == true)
        #expect(Self.problem("") == "line 1, column 1: the document has no element")
        #expect(Self.problem("text") != nil)
        #expect(Self.problem("<a>&nothing;</a>")?.contains("nothing") == true)
        let recovering = ResponseSerializer<XMLTree>.xml(recovers: true)
        let tree = try recovering.value(of: Self.received(Data("<a><b>x</a>".utf8)))
        #expect(tree.root["b"]?.text == "x" && tree.problems.count == 1)
        #expect(throws: HTTPClientError.self) { try Self.parse("<a/>", "text/html") }
    }

    @Test("Entity bombs, depth, and too many elements and attributes fail within the limits")
    func bombs() throws {
        var entities = "<!ENTITY e0 \"lol lol lol lol\">"
        for level in 1...7 {
            let inner = String(repeating: "&e\(level - 1);", count: 10)
            entities += "<!ENTITY e\(level) \"\(inner)\">"
        }
        #expect(Self.problem("<!DOCTYPE a [\(entities)]><a>&e7;</a>")?.contains("too much") == true)
        #expect(Self.problem("<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a>&x;</a>") == nil)
        #expect(try Self.parse("<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a>&x;</a>").root.text.isEmpty)
        let deep = String(repeating: "<a>", count: 129) + String(repeating: "</a>", count: 129)
        #expect(Self.problem(deep)?.contains("too deep") == true)
        #expect(Self.problem("<a>" + String(repeating: "<b/>", count: 100_000) + "</a>")?.contains("100000") == true)
        let attributes = (0..<129).map { " a\($0)=''" }.joined()
        #expect(Self.problem("<a\(attributes)/>")?.contains("too many attributes") == true)
        #expect(Self.problem("<a b='" + String(repeating: "x", count: 70_000) + "'/>")?.contains("too long") == true)
    }

    @Test("Encodings: byte order marks, the response, the declaration, and iconv")
    func encodings() throws {
        let text = "<a>Žluťoučký</a>"
        func root(_ data: Data, _ type: String = "text/xml") throws -> String {
            try ResponseSerializer.xml.value(of: Self.received(data, type)).root.text
        }
        let utf16 = try #require(text.data(using: .utf16LittleEndian))
        #expect(try root(Data([0xFF, 0xFE]) + utf16) == "Žluťoučký")
        let latin2 = try #require(text.data(using: .isoLatin2))
        #expect(try root(latin2, "text/xml; charset=iso-8859-2") == "Žluťoučký")
        let declared = try #require(
            "<?xml version='1.0' encoding='windows-1251'?><a>Привет</a>".data(using: .windowsCP1251))
        #expect(try root(declared) == "Привет")
        #expect(throws: HTTPClientError.self) { try root(Data("<a/>".utf8), "text/xml; charset=klingon") }
        #expect(throws: HTTPClientError.self) { try root(Data("<a>".utf8) + Data([0xC3, 0x28]) + Data("</a>".utf8)) }
    }

    /// A sequence that delivers its bytes one at a time.
    private struct Drip: AsyncSequence {
        typealias Element = UInt8
        var bytes: [UInt8]

        func makeAsyncIterator() -> AsyncStream<UInt8>.Iterator {
            AsyncStream { feed in
                for byte in bytes { feed.yield(byte) }
                feed.finish()
            }.makeAsyncIterator()
        }
    }

    @Test("A stream gives its events while it arrives, and the same ones in pieces of any size")
    func stream() async throws {
        var events: [XMLStreamEvent] = []
        for try await event in Drip(bytes: Array("<a x='1'>é<b/>z</a>".utf8)).xmlEvents() { events.append(event) }
        let (a, b) = (XMLTree.Name("a"), XMLTree.Name("b"))
        #expect(
            events == [
                .startElement(a, [.init(name: XMLTree.Name("x"), value: "1")]), .text("é"), .startElement(b, []),
                .endElement(b), .text("z"), .endElement(a),
            ])
        let long = String(repeating: "ž", count: 40_000)
        var text = ""
        for try await event in Drip(bytes: Array("<a>\(long)</a>".utf8)).xmlEvents() {
            if case .text(let piece) = event {
                text += piece
                #expect(piece.utf8.count < 40_000)
            }
        }
        #expect(text == long)
        await #expect(throws: XMLTree.Problem.self) {
            for try await _ in Drip(bytes: Array("<a></b></a>".utf8)).xmlEvents() {}
        }
    }

    /// A sequence whose bytes are all available already. So its iterator never suspends.
    private struct Ready: AsyncSequence {
        struct AsyncIterator: AsyncIteratorProtocol {
            var rest: ArraySlice<UInt8>

            mutating func next() async -> UInt8? { rest.popFirst() }

            mutating func next(isolation actor: isolated (any Actor)?) async -> UInt8? { rest.popFirst() }
        }

        var bytes: [UInt8]

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: bytes[...]) }
    }

    @Test("An actor that reads events of bytes which are there stays on its executor")
    func isolation() async throws {
        let reader = CountingActor()
        let count = try await reader.run { actor in
            var count = 0
            let bytes = Ready(bytes: Array("<a>\(String(repeating: "<b/>", count: 1_000))</a>".utf8))
            for try await _ in bytes.xmlEvents() { count += 1 }
            return count
        }
        #expect(count == 2_002 && reader.jobCount < 100)
    }
}

@Suite("Client: another server and the cache")
struct PlaceTests {
    @Test("O3: the host, the port and TLS of one request replace those of the client")
    func place() async throws {
        let server = ScriptedServer { _, _ in try answer("[]") }
        let client = try server.client("https://api.example:8443/v1")
        func send(_ change: (inout ClientRequest) -> Void) async throws {
            var request = ClientRequest("GET", "a", query: ["b": 1])
            change(&request)
            _ = try await client.send(request, as: .data)
        }
        try await send { _ in }
        try await send { $0.usesTLS = false }
        try await send { $0.host = "b.example" }
        try await send { ($0.host, $0.port, $0.usesTLS) = ("::1", 81, false) }
        #expect(
            server.requests.compactMap { $0.url?.absoluteString } == [
                "https://api.example:8443/v1/a?b=1", "http://api.example:8443/v1/a?b=1", "https://b.example/v1/a?b=1",
                "http://[::1]:81/v1/a?b=1",
            ])
        for host in ["", "a/b", "u@h", "a b", "a?b", "a%41"] {
            let error = await failure { try await send { $0.host = host } }
            #expect(error?.code == .invalidRequest, "\(host)")
        }
        #expect(await failure { try await send { $0.port = 0 } }?.code == .invalidRequest)
    }

    @Test(
        "O6: one operation for identical requests; a forced reload is not identical to a request that may use the cache"
    )
    func identical() async throws {
        let server = ScriptedServer { request, _ in
            try answer(request.cachePolicy == .reloadIgnoringLocalCacheData ? "[2]" : "[1]")
        }
        let client = try server.client()
        var reload = ClientRequest("GET", "a")
        reload.cachePolicy = .reloadIgnoringLocalCacheData
        #expect(try await client.send(reload, as: .json([Int].self)).value == [2])
        #expect(try await client.get("a") == [1])
        #expect(try client.curlCommand(for: ClientRequest("GET", "a")).contains("https://api.example/v1/a"))
    }
}
