import Foundation
import FoundationNetworking
import FoundationXML
import Testing

/// A parser delegate that collects a document's text.
private final class TextCollector: NSObject, XMLParserDelegate {
    var text = ""

    func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }
}

extension ImportTests {
    @Test("XMLParser and XMLDocument load through registered protocols")
    func xml() throws {
        URLProtocol.registerClass(GreetingProtocol.self)
        defer { URLProtocol.unregisterClass(GreetingProtocol.self) }
        let url = URL(string: "http://greeting.test/document.xml")!
        let collector = TextCollector()
        let parser = try #require(XMLParser(contentsOf: url))
        parser.delegate = collector
        #expect(parser.parse())
        #expect(collector.text == "hello")
        #expect(try XMLDocument(contentsOf: url, options: []).rootElement()?.stringValue == "hello")
    }
}

extension NetworkShapes {
    @Test("55: XMLParser and XMLDocument load from a server")
    func xml() throws {
        let origin = Origin(.loopback) { _ in .text("<a>hello</a>", fields: ["Content-Type": "text/xml"]) }
        let collector = TextCollector()
        let parser = try #require(XMLParser(contentsOf: origin.url))
        parser.delegate = collector
        #expect(parser.parse())
        #expect(collector.text == "hello")
        #expect(try XMLDocument(contentsOf: origin.url, options: []).rootElement()?.stringValue == "hello")
        withExtendedLifetime(origin) {}
    }
}
