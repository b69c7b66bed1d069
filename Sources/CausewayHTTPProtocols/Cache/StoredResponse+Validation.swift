import CausewayProtocols
package import CausewayWire

extension StoredResponse {
    /// The fields that describe the stored content. A response with status 304 does not change them (RFC 9111 §3.2).
    private static let kept = ["content-encoding", "content-length", "content-range"]

    /// What the conditions of a request contain (RFC 9110 §8.8).
    package struct Validators: Equatable, Sendable {
        var tag: ArraySlice<UInt8>?
        var date: ArraySlice<UInt8>?
    }

    package var validators: Validators {
        Validators(tag: fields.onlyBytes(of: "ETag"), date: fields.onlyBytes(of: "Last-Modified"))
    }

    /// Adds the conditions that ask whether the response is still current (RFC 9111 §4.3.1).
    package func addConditions(to request: inout FieldSection) {
        let validators = validators
        if let tag = validators.tag { request.set("If-None-Match", bytes: tag) }
        if let date = validators.date { request.set("If-Modified-Since", bytes: date) }
    }

    /// Returns whether a response with status 304 means this response. A server can answer for another one that it has sent meanwhile (RFC
    /// 9111 §4.3.4).
    package func isConfirmed(by update: FieldSection) -> Bool {
        guard let mine = fields.onlyValue(of: "ETag"), let other = update.onlyValue(of: "ETag") else { return true }
        return Self.opaque(mine) == Self.opaque(other)
    }

    /// Returns an entity tag without the mark of a weak one (RFC 9110 §8.8.3.2).
    private static func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }

    /// Takes over the fields of a response with status 304, or of a response to HEAD (RFC 9111 §4.3.4, §4.3.5).
    package mutating func freshen(with update: FieldSection, requestTime: Int, responseTime: Int) {
        let update = Self.storable(update)
        var (replaced, fields) = (Set<String>(), fields)
        for field in update {
            let name = URIBytes.lowercased(String(decoding: field.name, as: UTF8.self))
            guard !Self.kept.contains(name) else { continue }
            if replaced.insert(name).inserted { fields.removeAll(name) }
            fields.append(name: field.name, value: field.value)
        }
        // The age of the old response says nothing about the new one.
        if !update.contains("Age") { fields.removeAll("Age") }
        // Without a date, the response is as new as its confirmation.
        if !update.contains("Date") { fields.removeAll("Date") }
        self.fields = fields
        self.requestTime = requestTime
        self.responseTime = responseTime
        readFields()
    }

    /// Returns whether a response to HEAD describes this response, whose fields it then updates. Otherwise the stored response is outdated
    /// (RFC 9111 §4.3.5).
    package func matches(headOf other: FieldSection) -> Bool {
        ["ETag", "Last-Modified", "Content-Length"].allSatisfy { name in
            guard let value = other.onlyValue(of: name) else { return true }
            return value == fields.onlyValue(of: name)
        }
    }
}
