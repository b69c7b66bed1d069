import CausewayProtocols
package import CausewayWire

extension StoredResponse {
    /// Fields that describe the stored content. A 304 response does not change them (RFC 9111 §3.2).
    private static let kept = ["content-encoding", "content-length", "content-range"]

    /// The validators for a conditional request: entity tag and modification date (RFC 9110 §8.8).
    package struct Validators: Equatable, Sendable {
        var tag: ArraySlice<UInt8>?
        var date: ArraySlice<UInt8>?
    }

    package var validators: Validators {
        Validators(tag: fields.onlyBytes(of: "ETag"), date: fields.onlyBytes(of: "Last-Modified"))
    }

    /// Adds `If-None-Match` and `If-Modified-Since` to a request (RFC 9111 §4.3.1).
    package func addConditions(to request: inout FieldSection) {
        let validators = validators
        if let tag = validators.tag { request.set("If-None-Match", bytes: tag) }
        if let date = validators.date { request.set("If-Modified-Since", bytes: date) }
    }

    /// Returns whether a 304 response confirms this stored response.
    ///
    /// It does if both entity tags are equal, or if one of the two responses has no tag. Otherwise the server has
    /// confirmed another response, for example a newer one (RFC 9111 §4.3.4).
    package func isConfirmed(by update: FieldSection) -> Bool {
        guard let mine = fields.onlyValue(of: "ETag"), let other = update.onlyValue(of: "ETag") else { return true }
        return Self.opaque(mine).elementsEqual(Self.opaque(other))
    }

    /// Returns an entity tag without the weakness prefix `W/` (RFC 9110 §8.8.3.2).
    private static func opaque(_ tag: String) -> Substring.UTF8View {
        tag.utf8.dropFirst(tag.utf8.starts(with: "W/".utf8) ? 2 : 0)
    }

    /// Updates the stored fields from a 304 response or a HEAD response (RFC 9111 §4.3.4, §4.3.5).
    package mutating func freshen(with update: FieldSection, requestTime: Int, responseTime: Int) {
        let update = Self.storable(update)
        var (replaced, fields) = (Set<String>(), fields)
        for field in update {
            let name = URIBytes.lowercased(String(decoding: field.name, as: UTF8.self))
            guard !Self.kept.contains(name) else { continue }
            if replaced.insert(name).inserted { fields.removeAll(name) }
            fields.append(name: field.name, value: field.value)
        }
        // The stored `Age` field does not apply to the updated response.
        if !update.contains("Age") { fields.removeAll("Age") }
        // If the update has no `Date` field, also remove the stored one. The age is then counted from the time when the
        // update was received.
        if !update.contains("Date") { fields.removeAll("Date") }
        self.fields = fields
        self.requestTime = requestTime
        self.responseTime = responseTime
        readFields()
    }

    /// Returns whether the header fields of a HEAD response describe this stored response. If so, they may update the
    /// stored fields. If not, the stored response is outdated (RFC 9111 §4.3.5).
    package func matches(headOf other: FieldSection) -> Bool {
        ["ETag", "Last-Modified", "Content-Length"].allSatisfy { name in
            guard let value = other.onlyValue(of: name) else { return true }
            return value == fields.onlyValue(of: name)
        }
    }
}
