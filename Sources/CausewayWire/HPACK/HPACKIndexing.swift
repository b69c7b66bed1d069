/// A literal field's representation (RFC 7541 §6.2). The raw value is the bit pattern in its first byte.
enum HPACKIndexing: UInt8 {
    /// The field enters the dynamic table (RFC 7541 §6.2.1).
    case incremental = 0x40
    /// The field does not enter the table (RFC 7541 §6.2.2).
    case without = 0x00
    /// The field is not added to the dynamic table, and intermediaries must not index it either (RFC 7541 §7.1.3,
    /// §6.2.3).
    case never = 0x10

    /// The minimum length in bytes of an indexed cookie value. An attacker could guess shorter values by observing the
    /// compression (RFC 7541 §7.1).
    private static let guardedCookieCount = 20

    /// Chooses a field's representation by its name.
    ///
    /// Authorization fields, `Set-Cookie` and short cookies are never indexed. Fields whose values are rarely repeated
    /// are not indexed, because they would evict other entries.
    init(_ name: Span<UInt8>, staticIndex: Int?, valueCount: Int) {
        self =
            switch staticIndex {
            case Index.authorization, Index.proxyAuthorization: .never
            case Index.cookie where valueCount < Self.guardedCookieCount: .never
            case Index.setCookie: .never
            case Index.path, Index.age, Index.contentLength, Index.contentRange, Index.etag, Index.ifModifiedSince,
                Index.ifNoneMatch, Index.ifRange, Index.lastModified, Index.location, Index.range:
                .without
            default: .incremental
            }
    }

    /// Indices in the static table (RFC 7541, Appendix A).
    private enum Index {
        static let path = 4
        static let age = 21
        static let authorization = 23
        static let contentLength = 28
        static let contentRange = 30
        static let cookie = 32
        static let etag = 34
        static let ifModifiedSince = 40
        static let ifNoneMatch = 41
        static let ifRange = 42
        static let lastModified = 44
        static let location = 46
        static let proxyAuthorization = 49
        static let range = 50
        static let setCookie = 55
    }
}
