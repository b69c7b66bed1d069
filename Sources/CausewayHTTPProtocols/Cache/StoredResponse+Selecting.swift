import CausewayProtocols
package import CausewayWire

extension StoredResponse {
    /// Whether the response can answer a request with these fields (RFC 9111 §4.1).
    ///
    /// - Parameters:
    ///   - request: The request fields.
    ///   - isLenient: Whether a field missing from the request matches every value. A program that looks up a response
    ///     may pass a request without the fields that a session added to the sent request.
    package func isSelected(by request: FieldSection, isLenient: Bool = false) -> Bool {
        selecting.isEmpty
            || selecting.allSatisfy { field in
                guard field.name != "*" else { return false }
                let value = Selecting.value(of: field.name, in: request)
                return value == field.value || isLenient && value == nil
            }
    }

    /// Returns whether this stored response answers the request. The result is valid only if the cache stores no other
    /// response for the same URL.
    package func answers(_ request: FieldSection, isLenient: Bool = false) -> Bool {
        isSelected(by: request, isLenient: isLenient)
            && (part == nil || request.contains("Range") && positions(for: request) != nil)
    }

    /// Returns the index of the stored response that answers a request.
    ///
    /// Only the responses that the request's fields select can answer it. The newest complete one is used. If there is
    /// none, the newest partial response with the requested range is used.
    package static func index(
        in stored: [StoredResponse], for request: FieldSection, isLenient: Bool = false
    ) -> Int? {
        let selected = stored.indices.filter { stored[$0].isSelected(by: request, isLenient: isLenient) }
        if let complete = selected.filter({ stored[$0].part == nil }).max(by: {
            stored[$0].responseTime < stored[$1].responseTime
        }) {
            return complete
        }
        guard request.contains("Range") else { return nil }
        return selected.filter { stored[$0].positions(for: request) != nil }.max {
            stored[$0].responseTime < stored[$1].responseTime
        }
    }

    /// Returns whether this response replaces the other response when it is stored.
    ///
    /// Both responses must have the same selecting header fields. A partial response does not replace a complete
    /// response.
    package func replaces(_ other: StoredResponse) -> Bool {
        selecting == other.selecting && (part == nil || other.part != nil)
    }
}

extension StoredResponse.Selecting {
    /// Secret fields. Their values are stored only as digests.
    private static let secrets = ["authorization", "cookie", "proxy-authorization"]

    /// Returns the selecting fields: those listed in `Vary` (RFC 9110 §12.5.5), and `Authorization`. A private cache
    /// may ignore `Authorization` (RFC 9111 §3.5). It is included here because one program can act for several users.
    static func fields(of request: FieldSection, selectedBy response: FieldSection) -> [StoredResponse.Selecting] {
        guard response.contains("Vary") || request.contains("Authorization") else { return [] }
        var names = response.elements(of: "Vary").map { URIBytes.lowercased($0) }
        if request.contains("Authorization") { names.append("authorization") }
        var known: Set<String> = []
        return names.filter { known.insert($0).inserted }.sorted().map { name in
            StoredResponse.Selecting(name: name, value: value(of: name, in: request))
        }
    }

    /// Returns a field's normalized value: its elements without surrounding whitespace. In `Accept-Language`, neither
    /// case nor order is significant (RFC 9110 §12.5.4), so the elements are also in lower case and sorted. For a
    /// secret field, returns a digest instead.
    static func value(of name: String, in request: FieldSection) -> String? {
        guard request.contains(name) else { return nil }
        guard !secrets.contains(name) else { return digest(request.values(of: name).joined(separator: "\n")) }
        let elements = request.elements(of: name)
        guard name == "accept-language" else { return elements.joined(separator: ",") }
        return elements.map { URIBytes.lowercased($0.filter { $0 != " " }) }.sorted().joined(separator: ",")
    }

    private static func digest(_ text: String) -> String {
        var hash = SHA256()
        unsafe hash.update(Array(text.utf8).span.bytes)
        return Hexadecimal.text(hash.finish().prefix(16))
    }
}
