/// An XML document in memory.
///
/// External entities and document types are never read. The document's own entities expand within a budget, and depth, attributes and elements are limited: see
/// ``XMLTree/Limits``.
public struct XMLTree: Hashable, Sendable {
    /// A name with its namespace (Namespaces in XML §3).
    public struct Name: Hashable, Sendable, CustomStringConvertible {
        /// The prefix as written; empty if there is none.
        public var prefix: String
        /// The name without its prefix.
        public var local: String
        /// The namespace bound to the prefix; empty if there is none.
        public var namespace: String

        /// Creates a name.
        public init(_ local: String, prefix: String = "", namespace: String = "") {
            self.local = local
            self.prefix = prefix
            self.namespace = namespace
        }

        /// The name as the document writes it.
        public var description: String { prefix.isEmpty ? local : "\(prefix):\(local)" }
    }

    /// An attribute. References in its value are resolved.
    public struct Attribute: Hashable, Sendable {
        /// The attribute's name.
        public var name: Name
        /// The attribute's value.
        public var value: String

        /// Creates an attribute.
        public init(name: Name, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// A child of an element.
    public enum Node: Hashable, Sendable {
        /// An element.
        case element(Element)
        /// Characters between tags, with references resolved.
        case text(String)
    }

    /// An element with its attributes and children.
    public struct Element: Hashable, Sendable {
        /// The name.
        public var name: Name
        /// The attributes, in order.
        public var attributes: [Attribute]
        /// The child elements and texts, in order.
        public var children: [Node]

        /// Creates an element.
        public init(name: Name, attributes: [Attribute] = [], children: [Node] = []) {
            self.name = name
            self.attributes = attributes
            self.children = children
        }

        /// The child elements, in order.
        public var elements: [Element] {
            children.compactMap { if case .element(let element) = $0 { element } else { nil } }
        }

        /// The text in the element and its descendants.
        public var text: String {
            children.map { child in
                switch child {
                case .element(let element): element.text
                case .text(let text): text
                }
            }.joined()
        }

        /// Returns the first child element with a name, in any namespace.
        public subscript(_ local: String) -> Element? { elements.first { $0.name.local == local } }

        /// Returns the child elements with a name.
        ///
        /// - Parameters:
        ///   - local: The name without its prefix.
        ///   - namespace: The namespace; `nil` for any.
        public func elements(_ local: String, namespace: String? = nil) -> [Element] {
            elements.filter { $0.name.local == local && (namespace == nil || $0.name.namespace == namespace) }
        }

        /// Returns the value of the first attribute with a name, in any namespace.
        public func attribute(_ local: String) -> String? { attributes.first { $0.name.local == local }?.value }
    }

    /// The limits on a document's cost.
    ///
    /// A document that exceeds a limit is rejected. If the program parses the document with `recovers`, it is rejected
    /// only if it exceeds ``nodes``; parts beyond the other limits are left out.
    public struct Limits: Hashable, Sendable {
        /// The maximum nesting depth of elements, at most 512. The default is 128.
        public var depth = 128
        /// The maximum number of elements, attributes and texts together. The default is 100,000. Each takes about 200
        /// bytes of memory.
        public var nodes = 100_000
        /// The maximum number of attributes per element. The default is 128.
        public var attributes = 128
        /// The maximum tag size in bytes. The default is 64 KiB.
        public var tagByteCount = 64 << 10
        /// The maximum number of bytes added by expanding the document's own entities. The default is 64 KiB.
        public var expansionByteCount = 64 << 10

        /// Creates the default bounds.
        public init() {}
    }

    /// A violation of XML's rules, or of the limits.
    public struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
        /// The line, from 1.
        public var line: Int
        /// The column in characters, from 1.
        public var column: Int
        /// The violation in words.
        public var message: String

        /// A description of the problem with its location.
        public var description: String { "line \(line), column \(column): \(message)" }
    }

    /// The root element.
    public var root: Element
    /// The violations of XML's rules, if the document was parsed with `recovers`. The array has at most 32 such
    /// violations, and in addition up to two problems with the document's encoding.
    public var problems: [Problem] = []

    /// Creates a document.
    public init(root: Element) { self.root = root }
}
