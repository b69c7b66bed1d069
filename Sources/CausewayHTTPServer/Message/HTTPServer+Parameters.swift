internal import CausewayTypes

extension HTTPServer {
    /// The values of a route's path parameters, by name, without percent-encoding.
    ///
    /// ```swift
    /// routes.get("/users/{id}/{tab}") { request in
    ///     let id = try request.parameters.require("id", as: Int.self)
    ///     return .text("user \(id), \(request.parameters["tab"] ?? "")")
    /// }
    /// ```
    public struct Parameters: Sendable, Equatable {
        private let names: [String]
        private let values: [String]

        /// Creates an empty list.
        public init() { self.init([], []) }

        /// - Precondition: There are as many values as names.
        init(_ names: [String], _ values: [String]) {
            self.names = names
            self.values = values
        }

        /// The value with this name; `nil` if the route has no such parameter. If several parameters of the route have
        /// the name, the last one counts.
        public subscript(name: String) -> String? { names.lastIndex(of: name).map { values[$0] } }

        /// The value with this name, or `other` if the route has no such parameter.
        public subscript(name: String, default other: @autoclosure () -> String) -> String { self[name] ?? other() }

        /// Returns the value with this name as another type, for example a number.
        ///
        /// - Throws: ``HTTPServerError`` with status 400 if there is no such parameter, or if the type does not
        ///   represent its text. The message contains the name and not the value.
        public func require<Value: LosslessStringConvertible>(
            _ name: String, as type: Value.Type = Value.self
        ) throws(HTTPServerError) -> Value {
            try require(name) { Value($0) }
        }

        /// Returns what `convert` makes of the value with this name. For types such as `UUID`:
        ///
        /// ```swift
        /// let id = try request.parameters.require("id") { UUID(uuidString: $0) }
        /// ```
        ///
        /// - Throws: ``HTTPServerError`` with status 400 if there is no such parameter, or if `convert` returns `nil`.
        ///   The message contains the name and not the value.
        public func require<Value>(
            _ name: String, _ convert: (String) -> Value?
        ) throws(HTTPServerError) -> Value {
            guard let text = self[name], let value = convert(text) else {
                let printable: PrintableText = "the parameter '\(name)' is missing or not valid"
                throw HTTPServerError(status: 400, printable.text)
            }
            return value
        }
    }
}

extension HTTPServer.Parameters: RandomAccessCollection {
    /// The index of the first parameter.
    public var startIndex: Int { 0 }
    /// The index after the final parameter.
    public var endIndex: Int { names.count }

    /// A parameter's name and value, in the order of the path.
    public subscript(index: Int) -> (name: String, value: String) { (names[index], values[index]) }
}

extension HTTPServer.Parameters: ExpressibleByDictionaryLiteral {
    /// Creates a list of these parameters, in order.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(elements.map { $0.0 }, elements.map { $0.1 })
    }
}
