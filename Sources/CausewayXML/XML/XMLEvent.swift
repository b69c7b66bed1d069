/// A name of an element or attribute, with its namespace (Namespaces in XML §3).
package struct XMLName: Hashable, Sendable {
    /// The prefix as written, empty without one.
    package var prefix: String
    /// The name without its prefix, as written.
    package var local: String
    /// The namespace that the prefix is bound to, empty without one.
    package var namespace: String

    /// Makes a name from its parts.
    package init(prefix: String = "", local: String, namespace: String = "") {
        self.prefix = prefix
        self.local = local
        self.namespace = namespace
    }

    /// The name as the document writes it.
    package var qualified: String { prefix.isEmpty ? local : prefix + ":" + local }
}

/// An attribute of a start tag. References in its value are resolved.
package struct XMLAttribute: Hashable, Sendable {
    package var name: XMLName
    package var value: String

    /// Makes an attribute from its name and its value.
    package init(name: XMLName, value: String) {
        self.name = name
        self.value = value
    }
}

/// A part of a document, in document order.
package enum XMLEvent: Equatable, Sendable {
    /// A start tag, or the first half of an empty element.
    case startElement(XMLName, [XMLAttribute])
    /// An end tag. Elements that the document leaves open are closed, too.
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

    /// Makes a position.
    package init(line: Int = 1, column: Int = 1) {
        self.line = line
        self.column = column
    }

    package var description: String { "line \(line), column \(column)" }
}

/// A violation of XML's rules that the reader recovered from.
package struct XMLProblem: Hashable, Sendable, CustomStringConvertible {
    /// The position of the violation.
    package var place: XMLPlace
    /// The violation, in plain words.
    package var message: String

    /// Makes a problem.
    package init(place: XMLPlace, message: String) {
        self.place = place
        self.message = message
    }

    package var description: String { "\(place): \(message)" }
}

/// The work that a document was.
package struct XMLWork: Hashable, Sendable {
    /// Runs and single bytes that were read. A run costs no more than its bytes.
    package var stepCount = 0
    /// Tags, attributes, references and instructions that were read.
    package var markupCount = 0
}

/// Bounds for the cost of a document.
package struct XMLLimits: Hashable, Sendable {
    /// Nested elements. Deeper elements are skipped.
    package var depth = 128
    /// Nested elements that are skipped. Deeper elements end the document.
    package var skippedDepth = 4096
    /// Bytes of the name of an element. The rest is cut off.
    package var nameByteCount = 1024
    /// Tags, attributes, instructions and uncommon references of the document. More end it: each costs more than its bytes.
    package var markup = 1_500_000
    /// Bytes of one tag. A longer tag is skipped.
    package var tagByteCount = 64 * 1024
    /// Attributes of one element. More are ignored.
    package var attributes = 128
    /// Bytes of the internal subset of the document type declaration. The rest is skipped.
    package var declarationByteCount = 32 * 1024
    /// Entities that the document may declare.
    package var entities = 256
    /// Bytes that the document's own entities may add in total.
    package var expansionByteCount = 64 * 1024
    /// Problems that are kept. More are counted only.
    package var problems = 32

    package init() {}
}
