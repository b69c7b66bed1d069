/// The usual capitalization of well-known header field names. Programs use these names as keys of the field
/// dictionaries of requests and responses, and dictionary keys are case-sensitive.
enum WellKnownFields {
    private static let names = [
        "Accept", "Accept-Charset", "Accept-Encoding", "Accept-Language", "Accept-Ranges",
        "Access-Control-Allow-Credentials", "Access-Control-Allow-Headers", "Access-Control-Allow-Methods",
        "Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Access-Control-Max-Age", "Age", "Allow",
        "Alt-Svc", "Authentication-Info", "Authorization", "Cache-Control", "Connection", "Content-Disposition",
        "Content-Encoding", "Content-Language", "Content-Length", "Content-Location", "Content-MD5", "Content-Range",
        "Content-Security-Policy", "Content-Type", "Cookie", "Cookie2", "Date", "ETag", "Expect", "Expires", "From",
        "Host", "If-Match", "If-Modified-Since", "If-None-Match", "If-Range", "If-Unmodified-Since", "Keep-Alive",
        "Last-Modified", "Link", "Location", "Max-Forwards", "Origin", "P3P", "Pragma", "Proxy-Authenticate",
        "Proxy-Authorization", "Proxy-Connection", "Range", "Referer", "Refresh", "Retry-After", "Server",
        "Set-Cookie", "Set-Cookie2", "Strict-Transport-Security", "TE", "Trailer", "Transfer-Encoding", "Upgrade",
        "User-Agent", "Vary", "Via", "WWW-Authenticate", "Warning", "X-Frame-Options", "X-XSS-Protection",
    ]

    private static let byLowerCase = Dictionary(uniqueKeysWithValues: names.map { ($0.lowercased(), $0) })

    /// Returns a well-known name's usual capitalization. Other names are returned unchanged.
    static func capitalized(_ name: String) -> String { byLowerCase[name.lowercased()] ?? name }
}
