public import Foundation

extension XMLTree {
    /// Parses a document.
    ///
    /// The encoding comes from a byte order mark, otherwise from `charset` or the XML declaration, in this order. The default is UTF-8
    /// (RFC 7303 §3).
    ///
    /// - Parameters:
    ///   - data: The document.
    ///   - charset: The encoding named by the response; `nil` for none.
    ///   - limits: The limits on the document's cost.
    ///   - recovers: Whether to recover from violations of XML's rules and record them in ``problems``. Otherwise the
    ///     first violation is thrown. Limits apply in both cases: parts beyond a limit are left out, but too many nodes
    ///     are always an error.
    /// - Throws: ``Problem`` if the document has no element, has more nodes than the limit, or violates a rule.
    public init(
        parsing data: Data, charset: String? = nil, limits: Limits = Limits(), recovers: Bool = false
    ) throws(Problem) {
        var reader = XMLEventReader(charset: charset, limits: limits)
        var builder = XMLTreeBuilder(nodeLimit: max(limits.nodes, 1))
        var rest = data[...]
        while !rest.isEmpty, !builder.isFull {
            reader.read(rest.prefix(64 << 10)) { builder.take($0) }
            rest = rest.dropFirst(64 << 10)
            if !recovers, let problem = reader.problems.first { throw problem }
        }
        guard !builder.isFull else {
            throw Problem(
                line: 1, column: 1,
                message: "the document has more than \(limits.nodes) elements, attributes and texts")
        }
        reader.finish { builder.take($0) }
        let problems = reader.problems
        if !recovers, let problem = problems.first { throw problem }
        guard let root = builder.root else {
            throw problems.last ?? Problem(line: 1, column: 1, message: "the document has no element")
        }
        self.init(root: root)
        self.problems = problems
    }
}

/// Builds an XML tree from parser events.
struct XMLTreeBuilder {
    private let nodeLimit: Int
    private var nodeCount = 0
    private var open: [XMLTree.Element] = []
    /// The text since the last tag. Appending to text in the tree would copy the whole text for each piece.
    private var text = ""
    private(set) var root: XMLTree.Element?

    init(nodeLimit: Int) { self.nodeLimit = nodeLimit }

    /// Whether the document has too many nodes. Later events then have no effect.
    var isFull: Bool { nodeCount > nodeLimit }

    mutating func take(_ event: XMLStreamEvent) {
        guard !isFull else { return }
        switch event {
        case .startElement(let name, let attributes):
            endText()
            nodeCount += 1 + attributes.count
            open.append(XMLTree.Element(name: name, attributes: attributes))
        case .endElement:
            endText()
            guard let element = open.popLast() else { return }
            if open.isEmpty {
                // If the document was parsed with recovery, it can have several root elements. Only the first root is
                // used.
                root = root ?? element
            } else {
                open[open.count - 1].children.append(.element(element))
            }
        case .text(let piece):
            guard !open.isEmpty else { return }
            if text.isEmpty { nodeCount += 1 }
            text += piece
        }
    }

    private mutating func endText() {
        guard !text.isEmpty, !open.isEmpty else { return }
        open[open.count - 1].children.append(.text(text))
        text = ""
    }
}

extension ResponseSerializer where Value == XMLTree {
    /// A serializer for XML documents. It throws if a document violates XML's rules or the default limits.
    public static var xml: Self { xml() }

    /// Returns a serializer for XML documents.
    ///
    /// - Parameters:
    ///   - limits: The limits on a document's cost.
    ///   - recovers: Whether to recover from violations of XML's rules and record them in ``XMLTree/problems``.
    public static func xml(limits: XMLTree.Limits = XMLTree.Limits(), recovers: Bool = false) -> Self {
        ResponseSerializer(accepting: ["application/xml", "text/xml", "*/*+xml"]) { response in
            try XMLTree(parsing: response.data, charset: response.charset, limits: limits, recovers: recovers)
        }
    }
}
