package import CausewayWire

/// A message's header or trailer fields, in order (RFC 9110 §5).
///
/// Name comparison is case-insensitive. A name can occur several times; the subscript reads the first value and replaces all of them.
public struct HTTPServerFields: Sendable, Equatable {
    package var section: FieldSection

    /// Creates an empty list of fields.
    public init() { section = FieldSection() }

    package init(_ section: FieldSection) { self.section = section }

    /// The first value with this name; `nil` if there is none. Assigning replaces all fields with this name, and `nil`
    /// removes them.
    public subscript(name: String) -> String? {
        get { section.firstValue(of: name) }
        set {
            if let newValue { section.set(name, newValue) } else { section.removeAll(name) }
        }
    }

    /// Returns the values of all fields with this name, in order.
    public func values(of name: String) -> [String] { section.values(of: name) }

    /// Returns the elements of a comma-separated list. If several fields have this name, their lists are joined (RFC
    /// 9110 §5.6.1).
    public func elements(of name: String) -> [String] { section.elements(of: name) }

    /// Returns whether there is a field with this name.
    public func contains(_ name: String) -> Bool { section.contains(name) }

    /// Appends a field.
    public mutating func append(_ name: String, _ value: String) { section.append(name, value) }
}

extension HTTPServerFields: RandomAccessCollection {
    /// The index of the first field.
    public var startIndex: Int { 0 }
    /// The index after the final field.
    public var endIndex: Int { section.count }

    /// A field's name and value as they were sent.
    public subscript(index: Int) -> (name: String, value: String) {
        let field = section[index]
        return (String(decoding: field.name, as: UTF8.self), String(decoding: field.value, as: UTF8.self))
    }
}

extension HTTPServerFields: ExpressibleByDictionaryLiteral {
    /// Creates a list of these fields, in order.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init()
        // Reserve more space than these fields need. The server adds more fields later.
        section.reserveCapacity(fields: elements.count + 4, bytes: 256)
        for (name, value) in elements { append(name, value) }
    }
}
