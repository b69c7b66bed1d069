package import CausewayWire

/// A stored response's head, with the data that determines its reuse (RFC 9111 §3, §4). Times are seconds since 1970.
package struct StoredResponse: Sendable, Equatable {
    package internal(set) var status: Int {
        get { object.values.status }
        set { change { $0.status = newValue } }
    }
    package internal(set) var fields: FieldSection {
        get { object.values.fields }
        set { change { $0.fields = newValue } }
    }
    /// The time at which the request was sent.
    package internal(set) var requestTime: Int {
        get { object.values.requestTime }
        set { change { $0.requestTime = newValue } }
    }
    /// The time at which the response was received.
    package internal(set) var responseTime: Int {
        get { object.values.responseTime }
        set { change { $0.responseTime = newValue } }
    }
    /// The request fields on which the choice of this response depended.
    package internal(set) var selecting: [Selecting] {
        get { object.values.selecting }
        set { change { $0.selecting = newValue } }
    }
    /// The stored positions of a partial response (status 206); `nil` if it is complete.
    package internal(set) var part: Part? {
        get { object.values.part }
        set { change { $0.part = newValue } }
    }
    package var control: CacheControl { object.values.facts.control }
    /// Whether the response has freshness information or a validator. A response without either can answer only
    /// requests that accept stale responses.
    var isOfUse: Bool { object.values.facts.isOfUse }
    /// The time at which the server generated the response: `Date`, otherwise the time at which it was received.
    private var date: Int { object.values.facts.date }

    /// Holds the response's values behind one reference. Each cache lookup copies the response several times, and a
    /// copy of the reference costs only one retain.
    private final class Object: Sendable {
        let values: Values

        init(_ values: Values) { self.values = values }
    }

    private struct Values: Equatable, Sendable {
        var status: Int
        var fields: FieldSection
        var requestTime: Int
        var responseTime: Int
        var selecting: [Selecting]
        var part: Part?
        var facts: Facts
    }

    /// Values derived from the fields.
    private struct Facts: Equatable, Sendable {
        var control: CacheControl
        var isOfUse: Bool
        var date: Int
    }

    private var object: Object

    private mutating func change(_ body: (inout Values) -> Void) {
        var values = object.values
        body(&values)
        object = Object(values)
    }

    /// A request field that selected the response (RFC 9111 §4.1).
    package struct Selecting: Equatable, Sendable {
        /// The name in lower case.
        package var name: String
        /// The field's normalized value. For a secret field, a digest of the value. `nil` if the request did not
        /// contain the field.
        package var value: String?

        package init(name: String, value: String?) {
            self.name = name
            self.value = value
        }
    }

    /// The content of a partial response: the bytes of the representation at ``positions``.
    package struct Part: Equatable, Sendable {
        package var positions: Range<Int>
        /// The full representation length in bytes.
        package var length: Int
        /// The `Range` value of the request to which the server replied with this part.
        package var request: String
    }

    /// Fields that apply only to one connection or proxy, so they are not stored (RFC 9111 §3.1).
    ///
    /// The `Connection` field can name further fields that are not stored.
    private static let unstored = [
        "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization",
        "Proxy-Connection", "TE", "Transfer-Encoding", "Upgrade",
    ]
    private static let unstoredLengths = unstored.reduce(0 as UInt64) { $0 | 1 << UInt64($1.utf8.count) }
    private static let heuristic: Set = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]

    /// Creates a stored response. Fields that must not be stored are removed.
    ///
    /// - Parameters:
    ///   - status: The response status.
    ///   - fields: The response fields.
    ///   - request: The request fields as sent.
    ///   - requestTime: The time at which the request was sent.
    ///   - responseTime: The time at which the response was received.
    package init(status: Int, fields: FieldSection, request: FieldSection, requestTime: Int, responseTime: Int) {
        self.init(
            status: status, fields: Self.storable(fields), requestTime: requestTime, responseTime: responseTime,
            selecting: Selecting.fields(of: request, selectedBy: fields), part: nil)
    }

    /// Restores a stored response from its saved values.
    init(
        status: Int, fields: FieldSection, requestTime: Int, responseTime: Int, selecting: [Selecting], part: Part?
    ) {
        object = Object(
            Values(
                status: status, fields: fields, requestTime: requestTime, responseTime: responseTime,
                selecting: selecting, part: part, facts: Self.facts(fields, responseTime)))
    }

    package static func == (one: StoredResponse, other: StoredResponse) -> Bool {
        one.object === other.object || one.object.values == other.object.values
    }

    /// Updates the derived values after the fields changed.
    mutating func readFields() { change { $0.facts = Self.facts($0.fields, $0.responseTime) } }

    private static func facts(_ fields: FieldSection, _ responseTime: Int) -> Facts {
        let control = CacheControl(fields)
        let isOfUse =
            control.hasLimits || fields.contains("ETag") || fields.contains("Last-Modified")
            || fields.contains("Expires")
        let date = date(of: "Date", in: fields, responseTime) ?? responseTime
        return Facts(control: control, isOfUse: isOfUse, date: date)
    }

    static func storable(_ fields: FieldSection) -> FieldSection {
        // First compare only lengths, which is fast. In most responses, each field name has another length than the
        // names of fields that are never stored.
        guard fields.hasName(withLengths: unstoredLengths), unstored.contains(where: { fields.contains($0) }) else {
            return fields
        }
        let listed = fields.elements(of: "Connection")
        var result = fields
        result.removeAll { fields, index in
            unstored.contains { fields.isName($0, at: index) } || listed.contains { fields.isName($0, at: index) }
        }
        return result
    }

    // MARK: Age and freshness

    private func date(of name: String) -> Int? { Self.date(of: name, in: fields, responseTime) }

    private static func date(of name: String, in fields: FieldSection, _ now: Int) -> Int? {
        fields.onlyBytes(of: name).flatMap { HTTPDate.seconds(parsing: $0, now: now) }
    }

    /// Returns the age in seconds (RFC 9111 §4.2.3). If the clock was set back, the age is unknown, and the result is
    /// ``CacheControl/maximum``.
    package func age(at now: Int) -> Int {
        guard now >= responseTime else { return CacheControl.maximum }
        let corrected = (statedAge ?? 0) + max(0, responseTime - requestTime)
        return max(max(0, responseTime - date), corrected) + (now - responseTime)
    }

    /// The `Age` value. In a list, the first element counts (RFC 9111 §5.1).
    private var statedAge: Int? {
        guard fields.contains("Age"), let text = fields.elements(of: "Age").first else { return nil }
        var reader = FieldValueReader(text)
        guard let number = reader.number(), reader.isAtEnd else { return nil }
        return min(number, CacheControl.maximum)
    }

    /// The freshness lifetime in seconds (RFC 9111 §4.2.1, §4.2.2).
    package var lifetime: Int {
        if let age = control[.maxAge] { return age }
        // An invalid `Expires` date means that the response is already stale (RFC 9111 §5.3).
        if fields.contains("Expires") { return max(0, (date(of: "Expires") ?? date) - date) }
        guard isHeuristic, let modified = date(of: "Last-Modified"), modified < date else { return 0 }
        return min((date - modified) / 10, 86_400)
    }

    /// Returns the seconds since the response became stale; negative while it is fresh.
    package func staleness(at now: Int) -> Int { age(at: now) - lifetime }

    /// Whether the cache may reuse the response although the response states no freshness lifetime.
    private var isHeuristic: Bool { Self.isHeuristic(status) || control.flags.contains(.isPublic) }

    /// Returns whether a status is heuristically cacheable: stored and reused without explicit freshness
    /// (RFC 9110 §15.1).
    static func isHeuristic(_ status: Int) -> Bool { heuristic.contains(status) }

    /// Whether the response has a validator (RFC 9110 §8.8).
    package var hasValidator: Bool { fields.contains("ETag") || date(of: "Last-Modified") != nil }

    /// The header fields for the program. Leaves out the fields that must be validated before each use (RFC 9111
    /// §5.2.2.4).
    package var usableFields: FieldSection {
        guard !control.unusableFields.isEmpty else { return fields }
        var result = fields
        for name in control.unusableFields { result.removeAll(name) }
        return result
    }
}
