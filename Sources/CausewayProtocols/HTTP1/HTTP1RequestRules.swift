internal import CausewayWire

/// The checks that a server makes before it interprets a request.
enum HTTP1RequestRules {
    /// - Throws: ``HTTP1Failure/invalidRequest(_:)``. The server then responds with status 400 (RFC 9110 §15.5.1).
    static func check(_ request: HTTPRequestHead) throws(HTTP1Failure) {
        guard isValidTarget(request) else { throw .invalidRequest("target") }
        // If a request names several hosts, intermediaries and servers may choose different hosts and thereby interpret
        // the request differently (RFC 9112 §3.2).
        if let first = request.fields.index(of: "Host") {
            let host = request.fields[first].value
            guard request.fields.index(of: "Host", from: first + 1) == nil, HTTPCharacters.isHost(host.span) else {
                throw .invalidRequest("Host")
            }
        } else if request.version >= .http11 {
            throw .invalidRequest("Host")
        }
    }

    /// Returns whether the target has a form that is valid for the method (RFC 9112 §3.2).
    private static func isValidTarget(_ request: HTTPRequestHead) -> Bool {
        let target = request.target.utf8
        if request.method == "CONNECT" {
            return target.contains(UInt8(ascii: ":")) && !target.contains(UInt8(ascii: "/"))
        }
        if target.first == UInt8(ascii: "/") { return true }
        if request.target == "*" { return request.method == "OPTIONS" }
        // A target in absolute form begins with a scheme and a colon (RFC 3986 §3.1). Check the scheme.
        guard let colon = target.firstIndex(of: UInt8(ascii: ":")), let first = target.first, isLetter(first) else {
            return false
        }
        return target[..<colon].allSatisfy { byte in
            isLetter(byte) || (0x30...0x39).contains(byte) || "+-.".utf8.contains(byte)
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
}
