/// An element or attribute name, with its namespace (Namespaces in XML §3).
package struct XMLName: Hashable, Sendable {
    /// The prefix as written; empty if there is none.
    package var prefix: String
    /// The name without its prefix, as written.
    package var local: String
    /// The namespace that belongs to the prefix; empty if there is none.
    package var namespace: String

    /// Creates a name from its parts.
    package init(prefix: String = "", local: String, namespace: String = "") {
        self.prefix = prefix
        self.local = local
        self.namespace = namespace
    }

    /// The name as written in the document.
    package var qualified: String { prefix.isEmpty ? local : prefix + ":" + local }
}

/// A start tag attribute, with references in its value resolved.
package struct XMLAttribute: Hashable, Sendable {
    package var name: XMLName
    package var value: String

    /// Creates an attribute.
    package init(name: XMLName, value: String) {
        self.name = name
        self.value = value
    }
}

/// A parse event, in document order.
package enum XMLEvent: Equatable, Sendable {
    /// A start tag, or the start of an empty element.
    case startElement(XMLName, [XMLAttribute])
    /// An end tag. Also reported for elements that the document leaves open.
    case endElement(XMLName)
    /// Characters between tags as UTF-8. A long text arrives in several events.
    case text([UInt8])
}

/// A position in a document, counted from 1.
package struct XMLPlace: Hashable, Sendable, CustomStringConvertible {
    /// The line, counted from 1.
    package var line: Int
    /// The column in characters, counted from 1.
    package var column: Int

    /// Creates a position.
    package init(line: Int = 1, column: Int = 1) {
        self.line = line
        self.column = column
    }

    package var description: String { "line \(line), column \(column)" }
}

/// An XML violation from which the reader recovered.
package struct XMLProblem: Hashable, Sendable, CustomStringConvertible {
    /// The violation's position.
    package var place: XMLPlace
    /// A human-readable description.
    package var message: String

    /// Creates a problem.
    package init(place: XMLPlace, message: String) {
        self.place = place
        self.message = message
    }

    package var description: String { "\(place): \(message)" }
}

/// The work done for a document.
package struct XMLWork: Hashable, Sendable {
    /// The number of reading steps. A step reads one byte, or several bytes at once.
    package var stepCount = 0
    /// The number of tags, attributes, references and processing instructions that were read.
    package var markupCount = 0
}

/// Limits for a document's cost.
package struct XMLLimits: Hashable, Sendable {
    /// Maximum element depth. Deeper elements are skipped.
    package var depth = 128
    /// Maximum nesting depth of skipped elements. It is added to ``depth``. An element that is nested more deeply than
    /// both limits permit ends the document.
    package var skippedDepth = 4096
    /// Maximum element name length in bytes. The rest is cut off.
    package var nameByteCount = 1024
    /// Maximum number of tags, attributes, instructions and uncommon references. If a document exceeds it, the document
    /// ends there. These parts have a separate limit, because they take more time than plain text of the same length.
    package var markup = 1_500_000
    /// Maximum bytes per tag. A longer tag is skipped.
    package var tagByteCount = 64 * 1024
    /// Maximum attributes per element. Further attributes are ignored.
    package var attributes = 128
    /// Maximum bytes for the document type declaration's internal subset. The rest is skipped.
    package var declarationByteCount = 32 * 1024
    /// Maximum number of declared entities.
    package var entities = 256
    /// Maximum bytes that expanding the document's entities may add in total.
    package var expansionByteCount = 64 * 1024
    /// Maximum number of problems to keep. Further problems are dropped.
    package var problems = 32

    package init() {}
}
