package import CausewayWire

/// Finds strong validators. Equal strong validators show that ranges from several responses belong to the same content
/// (RFC 9110 §13.1.5).
package enum RangeValidators {
    /// Returns the entity tag if it is strong (RFC 9110 §8.8.3).
    package static func strongTag(of fields: FieldSection) -> String? {
        guard let text = fields.onlyValue(of: "ETag"), let tag = EntityTag(parsing: Array(text.utf8)[...]), !tag.isWeak
        else { return nil }
        return tag.text
    }

    /// Returns the modification date if it is a strong validator: at least one second before `Date`
    /// (RFC 9110 §8.8.2.2).
    ///
    /// - Parameters:
    ///   - fields: The response fields.
    ///   - now: The current time in seconds since 1970, for dates with a two-digit year.
    package static func strongDate(of fields: FieldSection, now: Int) -> String? {
        guard let text = fields.onlyValue(of: "Last-Modified"), let date = fields.onlyValue(of: "Date"),
            let modified = HTTPDate.seconds(parsing: text, now: now),
            let made = HTTPDate.seconds(parsing: date, now: now),
            modified < made
        else { return nil }
        return text
    }
}
