public import Foundation

/// A parameter value in a query or form.
///
/// Text, numbers, Booleans and UUIDs are one value. An array repeats the parameter. A value that is `nil` leaves the parameter out.
public protocol RequestParameterValue: Sendable {
    /// The values as text, without encoding.
    var parameterTexts: [String] { get }
}

/// Names and values in a query or a form, in order. A name can occur several times.
///
/// ```swift
/// let parameters: RequestParameters = ["term": "AC/DC & friends", "limit": 5, "tag": ["live", "hd"]]
/// ```
public struct RequestParameters: ExpressibleByDictionaryLiteral, Sendable {
    /// The names and values, in the order in which they are sent.
    public private(set) var items: [(name: String, value: String)] = []

    /// Creates an empty list.
    public init() {}

    /// Creates a list from a literal.
    public init(dictionaryLiteral elements: (String, any RequestParameterValue)...) {
        for (name, value) in elements { append(value, for: name) }
    }

    /// Whether there are no parameters.
    public var isEmpty: Bool { items.isEmpty }

    /// Appends a parameter.
    public mutating func append(_ value: any RequestParameterValue, for name: String) {
        for text in value.parameterTexts { items.append((name, text)) }
    }

    /// The parameters as a query (RFC 3986 §3.4). A space becomes `%20`, and a plus sign becomes `%2B`. Servers decode
    /// both correctly, whether or not they treat queries as forms.
    public var query: String { encoded(for: .value) }

    /// The parameters as `application/x-www-form-urlencoded` (WHATWG URL §5.2).
    public var form: String { encoded(for: .form) }

    private func encoded(for place: PercentEncoding.Place) -> String {
        items.map { item in
            PercentEncoding.encoded(item.name, for: place) + "=" + PercentEncoding.encoded(item.value, for: place)
        }.joined(separator: "&")
    }
}

extension String: RequestParameterValue {
    /// The text as the only value.
    public var parameterTexts: [String] { [self] }
}

extension Substring: RequestParameterValue {
    /// The text as the only value.
    public var parameterTexts: [String] { [String(self)] }
}

extension Bool: RequestParameterValue {
    /// `true` or `false`.
    public var parameterTexts: [String] { [self ? "true" : "false"] }
}

extension Int: RequestParameterValue {
    /// The decimal number.
    public var parameterTexts: [String] { [String(self)] }
}

extension Int64: RequestParameterValue {
    /// The decimal number.
    public var parameterTexts: [String] { [String(self)] }
}

extension Double: RequestParameterValue {
    /// The shortest decimal number that parses to the same value, with a point in every locale.
    public var parameterTexts: [String] { [String(self)] }
}

extension UUID: RequestParameterValue {
    /// The UUID in upper case.
    public var parameterTexts: [String] { [uuidString] }
}

extension Array: RequestParameterValue where Element: RequestParameterValue {
    /// The values of all elements.
    public var parameterTexts: [String] { flatMap(\.parameterTexts) }
}

extension Optional: RequestParameterValue where Wrapped: RequestParameterValue {
    /// The texts of the wrapped value. If the optional is `nil`, there are no texts.
    public var parameterTexts: [String] { self?.parameterTexts ?? [] }
}
