import CausewayProtocols
package import CausewayWire

/// The `Cache-Control` directives used by a private cache (RFC 9111 §5.2). Others are ignored (RFC 9111 §5.2.3).
package struct CacheControl: Equatable, Sendable {
    /// Directives without a value (RFC 9111 §5.2.1.4, §5.2.1.5, §5.2.1.7, §5.2.2.2-5.2.2.5, §5.2.2.7).
    package struct Flags: OptionSet, Sendable {
        package let rawValue: UInt16

        package init(rawValue: UInt16) { self.rawValue = rawValue }

        package static let noStore = Flags(rawValue: 1 << 0)
        /// `no-cache` without field names.
        package static let noCache = Flags(rawValue: 1 << 1)
        package static let mustRevalidate = Flags(rawValue: 1 << 2)
        package static let mustUnderstand = Flags(rawValue: 1 << 3)
        package static let isPublic = Flags(rawValue: 1 << 4)
        package static let isPrivate = Flags(rawValue: 1 << 5)
        package static let immutable = Flags(rawValue: 1 << 6)
        package static let onlyIfCached = Flags(rawValue: 1 << 7)
    }

    /// The cache directives whose value is a number of seconds (RFC 9111 §5.2.1.1-5.2.1.3, §5.2.2.1).
    package enum Limit: String, Sendable {
        case maxAge = "max-age"
        case minFresh = "min-fresh"
        case maxStale = "max-stale"
        /// The time for which a stale response may be used while it is validated (RFC 5861 §3).
        case staleWhileRevalidate = "stale-while-revalidate"
        /// The time for which a stale response may replace an error (RFC 5861 §4).
        case staleIfError = "stale-if-error"
    }

    package private(set) var flags: Flags = []
    /// The field names listed by `no-cache`. These fields must not be reused without validation.
    package private(set) var unusableFields: [String] = []
    private var limits: [Limit: Int] = [:]

    /// Whether the field contains directives that have a number of seconds.
    var hasLimits: Bool { !limits.isEmpty }

    /// The maximum number of seconds. Larger values are reduced to this number (RFC 9111 §1.2.2).
    static let maximum = 1 << 31
    /// The maximum number of field names in `no-cache`. The same limit applies to `Vary` in a stored response. Each
    /// name costs memory, and it also costs time when a request is compared with the response.
    static let maximumNameCount = 64

    /// Creates the directives from all `Cache-Control` fields in a header section.
    package init(_ fields: FieldSection) {
        fields.forEachElement(of: "Cache-Control") { element in
            read(element)
            return true
        }
    }

    /// The directive's value in seconds; `nil` if the directive is absent. A missing or invalid number counts as 0, so
    /// that an invalid `max-age` makes the response stale. `max-stale` without a number counts as ``maximum``. If a
    /// directive is repeated, the smallest value counts (RFC 9111 §4.2.1).
    package subscript(limit: Limit) -> Int? { limits.isEmpty ? nil : limits[limit] }

    private mutating func read(_ element: ArraySlice<UInt8>) {
        var reader = FieldValueReader(HTTPCharacters.trimmed(element))
        guard let token = reader.token() else { return }
        let name = URIBytes.lowercased(String(decoding: token, as: UTF8.self))
        guard !reader.isAtEnd else { return read(name, nil) }
        reader.skipSpace()
        let value = reader.take("=") ? reader.tokenOrQuotedString() : []
        read(name, reader.isAtEnd ? value ?? [] : [])
    }

    private mutating func read(_ name: String, _ value: [UInt8]?) {
        if let limit = Limit(rawValue: name) {
            let seconds = value.map(Self.seconds) ?? (limit == .maxStale ? Self.maximum : 0)
            limits[limit] = min(limits[limit] ?? seconds, seconds)
        } else if name == "no-cache", let value, !value.isEmpty {
            for field in ListElements(value[...]) { unusableFields.append(String(decoding: field, as: UTF8.self)) }
            guard unusableFields.count > Self.maximumNameCount else { return }
            unusableFields = []
            flags.insert(.noCache)
        } else if let flag = Self.flag(name) {
            flags.insert(flag)
        }
    }

    private static func flag(_ name: String) -> Flags? {
        switch name {
        case "no-store": .noStore
        case "no-cache": .noCache
        case "must-revalidate": .mustRevalidate
        case "must-understand": .mustUnderstand
        case "public": .isPublic
        case "private": .isPrivate
        case "immutable": .immutable
        case "only-if-cached": .onlyIfCached
        default: nil
        }
    }

    /// Returns a number of seconds, or 0 if it is invalid.
    private static func seconds(_ value: [UInt8]) -> Int {
        guard !value.isEmpty, value.allSatisfy(URIBytes.isDigit) else { return 0 }
        var total = 0
        for digit in value { total = min(total * 10 + Int(digit - 0x30), maximum) }
        return total
    }
}
