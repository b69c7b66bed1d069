internal import CausewayWire

/// Decides from a client's first bytes whether it uses HTTP/2 (RFC 9113 §3.3).
struct HTTPVersionDecision: Sendable {
    /// The decision on the client's HTTP version. For a decided version, the value has all bytes received so far.
    enum Outcome: Equatable, Sendable {
        case http1(ArraySlice<UInt8>)
        case http2(ArraySlice<UInt8>)
        case undecided
    }

    /// The client's first bytes, while they can still become the HTTP/2 preface.
    private var bytes: [UInt8] = []

    /// Whether no client bytes are stored: none have arrived, or the version is decided.
    var isEmpty: Bool { bytes.isEmpty }

    /// Compares the client's first bytes with the HTTP/2 preface.
    mutating func received(_ new: ArraySlice<UInt8>) -> Outcome {
        let preface = HTTP2Connection.preface
        // Bytes are stored only if they begin with "P", as the preface does. Most HTTP/1 requests, such as GET, do not
        // begin with "P", so their bytes are returned without a copy.
        if bytes.isEmpty, new.first != preface[0] { return .http1(new) }
        bytes += new
        let count = min(bytes.count, preface.count)
        guard bytes[..<count].elementsEqual(preface[..<count]) else { return .http1(takeBytes()) }
        guard count == preface.count else { return .undecided }
        return .http2(takeBytes())
    }

    /// Removes and returns the bytes of a client that ended its stream before the version was decided.
    mutating func takeBytes() -> ArraySlice<UInt8> {
        defer { bytes = [] }
        return bytes[...]
    }
}
