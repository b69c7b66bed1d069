import CausewayMarkup
import Testing

@Suite("XML reader (XML 1.0)")
struct XMLReaderTests {
    /// Returns a document's XML events as text. Consecutive text events are joined.
    private static func events(_ document: String, size: Int = .max) -> (text: String, problems: [String]) {
        var reader = XMLReader()
        var text = ""
        let handler: XMLReader.Handler = { event, _ in
            switch event {
            case .startElement(let name, let attributes):
                text += "<\(name.qualified)" + attributes.map { " \($0.name.qualified)=\($0.value)" }.joined() + ">"
            case .endElement(let name): text += "</\(name.qualified)>"
            case .text(let bytes): text += String(decoding: bytes, as: UTF8.self)
            }
        }
        var rest = Array(document.utf8)[...]
        while !rest.isEmpty {
            reader.read(Array(rest.prefix(size)), handler)
            rest = rest.dropFirst(size)
        }
        reader.finish(handler)
        return (text, reader.problems.map(\.description))
    }

    struct Row: Sendable {
        let document: String
        let events: String
        var problem: String?
    }

    static let rows: [Row] = [
        Row(document: "<a><b c='d'/>e</a>", events: "<a><b c=d></b>e</a>"),
        Row(document: "<?xml version='1.0'?><!-- - -- > --><a>&lt;&#65;&#x42;&amp;</a>", events: "<a><AB&</a>"),
        Row(document: "<a><![CDATA[<b>]]]]></a>", events: "<a><b>]]</a>"),
        Row(document: "<!DOCTYPE a [<!ENTITY b 'c&d;'><!ENTITY d 'e'>]><a>&b;</a>", events: "<a>ce</a>"),
        Row(document: "<a b='1&#10;2\n3'></a>", events: "<a b=1\n2 3></a>"),
        Row(document: "<a\r\n b = \"c\"\t>\r\n</a >", events: "<a b=c>\n</a>"),
        Row(document: "<a><b></a>", events: "<a><b></b></a>", problem: "line 1, column 7: </a> before </b>"),
        Row(document: "<a></b></a>", events: "<a></a>", problem: "line 1, column 4: </b> closes no element"),
        Row(document: "<a>\n<b", events: "<a>\n</a>", problem: "line 2, column 1: the document ends inside of markup"),
        Row(document: "<a>1 < 2 & 3</a>", events: "<a>1 < 2 & 3</a>", problem: "line 1, column 6: '<' without a tag"),
        Row(
            document: "<a>&eacute;</a>", events: "<a>é</a>", problem: "line 1, column 4: entity eacute is not declared"),
        Row(
            document: "<a>&unknown;</a>", events: "<a>&unknown;</a>",
            problem: "line 1, column 4: entity unknown is not declared"),
        Row(
            document: "<a b=c d></a>", events: "<a b=c d=></a>",
            problem: "line 1, column 1: the value of attribute b is not quoted"),
        Row(document: "<a b='1' b='2'/>", events: "<a b=1></a>", problem: "line 1, column 1: attribute b occurs twice"),
        Row(document: "<p:a/>", events: "<p:a></p:a>", problem: "line 1, column 1: prefix p is not declared"),
        Row(document: "é<a/>", events: "<a></a>", problem: "line 1, column 2: characters outside of the root element"),
        Row(
            document: " <?xml version='1.0'?><a/>", events: "<a></a>",
            problem: "line 1, column 2: the XML declaration is not at the start"),
        Row(document: "<a>\u{1}</a>", events: "<a></a>", problem: "line 1, column 4: a control character"),
        Row(
            document: "<a/>&amp;", events: "<a></a>",
            problem: "line 1, column 5: characters outside of the root element"),
        Row(document: "<a/>\n&\u{0}b", events: "<a></a>", problem: "line 2, column 1: '&' without a reference"),
        Row(document: "<a><![CDATA[]]x]>]]]]></a>", events: "<a>]]x]>]]</a>"),
        Row(document: "<a><?b ? ??></a>", events: "<a></a>"),
        Row(
            document: "<a b=\" c'\" \" d='e'></a>", events: "<a b= c' d=e></a>",
            problem: "line 1, column 1: an unexpected character in a tag"),
        Row(
            document: "<a b='& &; &amp; &'></a>", events: "<a b=& &; & &></a>",
            problem: "line 1, column 1: '&' without a reference"),
        Row(
            document: "<a>\(String(repeating: "& && &;&amp;", count: 20))</a>",
            events: "<a>\(String(repeating: "& && &;&", count: 20))</a>",
            problem: "line 1, column 4: '&' without a reference"),
        Row(document: "<a <b/></a>", events: "<a><b></b></a>", problem: "line 1, column 1: '<' inside of a tag"),
        Row(document: "", events: "", problem: "line 1, column 1: the document has no element"),
    ]

    @Test("F3: documents give events in pieces of every size, and violations have places", arguments: rows)
    func events(_ row: Row) {
        let whole = Self.events(row.document).problems
        for size in [Int.max, 1, 2, 3, 7] {
            let result = Self.events(row.document, size: size)
            #expect(result.text == row.events)
            #expect(result.problems == whole)
            if let problem = row.problem {
                #expect(result.problems.first == problem)
            } else {
                #expect(result.problems == [])
            }
        }
    }

    /// Each document with its events. Text from references keeps carriage returns.
    static let lineBreakRows: [Row] = [
        Row(document: "<a>1\r2\r\n3\r\r4\n\r5</a>", events: "<a>1\n2\n3\n\n4\n\n5</a>"),
        Row(document: "<a>1&#13;2&#xD;\n3\r&#10;</a>", events: "<a>1\r2\r\n3\n\n</a>"),
        Row(document: "<a><![CDATA[1\r2\r\n3&#13;]]></a>", events: "<a>1\n2\n3&#13;</a>"),
        Row(document: "<a\rb='c'\r\n/>\r", events: "<a b=c></a>"),
        Row(
            document: "<a b='1\r2\r\n3\n4\t5\r\r6' c='&#13;&#10;&#9;&#13;\n'/>",
            events: "<a b=1 2 3 4 5  6 c=\r\n\t\r ></a>"),
        Row(
            document: "<!DOCTYPE a [<!ENTITY e '1\r2\r\n3\t4'>]>\r<a b='&e;'>&e;</a>",
            events: "<a b=1 2 3 4>1\n2\n3\t4</a>"),
        Row(
            document: "<!DOCTYPE a [<!ENTITY d '&#xD;'><!ENTITY l '&#xA;'>]><a b='&d;&d;A&l;&#x20;&l;B'>&d;&l;\r</a>",
            events: "<a b=  A   B>\r\n\n</a>"),
        Row(
            document: "<a>\r\r\n<b", events: "<a>\n\n</a>",
            problem: "line 3, column 1: the document ends inside of markup"),
        Row(document: "<!--\r\n\r--><a>\u{1}</a>", events: "<a></a>", problem: "line 3, column 7: a control character"),
    ]

    @Test("Line breaks are line feeds in texts and spaces in values, in pieces of every size", arguments: lineBreakRows)
    func lineBreaks(_ row: Row) { events(row) }

    @Test("A line break between two pieces is one, also with empty pieces in between")
    func brokenLineBreak() {
        var reader = XMLReader()
        var text: [UInt8] = []
        for piece in ["<a>1\r", "", "\n2\r", "3</a>"] {
            reader.read(Array(piece.utf8)) { event, _ in
                if case .text(let bytes) = event { text += bytes }
            }
        }
        #expect(text == Array("1\n2\n3".utf8))
        #expect(reader.position == XMLPlace(line: 3, column: 6))
    }

    @Test("F6: prefixes are resolved to namespaces, also after they were declared again")
    func namespaces() {
        var names: [XMLName] = []
        var reader = XMLReader()
        let document = "<a xmlns='u:1' xmlns:p='u:2'><p:b xmlns:p='u:3' p:c='d' e='f'/><p:g/></a>"
        reader.read(Array(document.utf8)) { event, _ in
            guard case .startElement(let name, let attributes) = event else { return }
            names.append(name)
            names += attributes.map(\.name).filter { $0.prefix != "xmlns" && $0.local != "xmlns" }
        }
        #expect(names.map(\.namespace) == ["u:1", "u:3", "u:3", "", "u:2"])
    }

    @Test("An end tag closes elements that are nested too deep, and one without a partner closes none")
    func deep() {
        let open = String(repeating: "<b>", count: 200)
        let close = String(repeating: "</b>", count: 200)
        let result = Self.events("<a>\(open)<c></d></c>\(close)<e/></a>")
        #expect(result.text.hasSuffix("</b><e></e></a>"))
        #expect(result.problems.contains { $0.hasSuffix("</d> closes no element") })
        #expect(Self.events("<a>\(open)<c></a><e/>").text.hasSuffix("</b></a><e></e>"))
    }

    @Test("Entities that expand without end cost a bounded number of bytes")
    func expansion() {
        var declarations = "<!ENTITY l0 'lol'>"
        for level in 1...9 {
            declarations += "<!ENTITY l\(level) '\(String(repeating: "&l\(level - 1);", count: 10))'>"
        }
        let document = "<!DOCTYPE a [\(declarations)]><a>\(String(repeating: "&l9;", count: 100))</a>"
        let result = Self.events(document)
        #expect(result.text.utf8.count < 70_000)
        #expect(result.problems.first?.contains("expands to too much") == true)
        #expect(Self.events("<!DOCTYPE a [<!ENTITY b '&b;'>]><a>&b;</a>").text == "<a></a>")
    }

    @Test("References that every document may have cost no more than their bytes, whole and in pieces")
    func commonReferences() {
        let document = "<a>" + String(repeating: "&amp;&", count: 200) + "</a>"
        for size in [Int.max, 1, 5] {
            var limits = XMLLimits()
            limits.markup = 16
            var reader = XMLReader(limits: limits)
            var rest = Array(document.utf8)[...]
            while !rest.isEmpty {
                reader.read(Array(rest.prefix(size))) { _, _ in }
                rest = rest.dropFirst(size)
            }
            reader.finish { _, _ in }
            #expect(!reader.isEnded)
        }
    }

    @Test("External entities are not read")
    func external() {
        let result = Self.events("<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>x&b;y</a>")
        #expect(result.text == "<a>xy</a>")
    }

    @Test("Depth, tags and attributes are bounded")
    func bounds() {
        let deep = Self.events(String(repeating: "<a>", count: 10_000) + "x" + String(repeating: "</a>", count: 10_000))
        #expect(deep.text == String(repeating: "<a>", count: 128) + String(repeating: "</a>", count: 128))
        #expect(deep.problems.first?.contains("too deep") == true)
        let long = Self.events("<a><b c='\(String(repeating: "d", count: 100_000))'/>e</a>")
        #expect(long.text == "<a>e</a>")
        let many = Self.events("<a \((0..<1000).map { "b\($0)='c'" }.joined(separator: " "))/>")
        #expect(many.text.split(separator: " ").count == 129)
    }
}
