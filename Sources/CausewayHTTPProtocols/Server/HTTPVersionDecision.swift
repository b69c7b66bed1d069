internal import CausewayWire

/// Decides from a client's first bytes whether it uses HTTP/2 (RFC 9113 §3.3).
struct HTTPVersionDecision: Sendable {
    /// The decision about the HTTP version that the client uses. If the version is decided, the value contains all
    /// bytes received so far.
    enum Outcome: Equatable, Sendable {
        case http1(ArraySlice<UInt8>)
        case http2(ArraySlice<UInt8>)
        case undecided
    }

    /// The client's first bytes. They are stored only as long as they can still be the beginning of the HTTP/2 preface.
    private var bytes: [UInt8] = []

    /// Whether no bytes from the client are stored. This is the case before the first byte arrives, and after the
    /// version was decided.
    var isEmpty: Bool { bytes.isEmpty }

    /// Compares the client's first bytes with the HTTP/2 preface, to determine the HTTP version.
    mutating func received(_ new: ArraySlice<UInt8>) -> Outcome {
        let preface = HTTP2Connection.preface
        // The HTTP/2 preface begins with "P". Most HTTP/1 requests, such as GET, begin with another letter. Their bytes
        // are returned at once, without a copy.
        if bytes.isEmpty, new.first != preface[0] { return .http1(new) }
        bytes += new
        let count = min(bytes.count, preface.count)
        guard bytes[..<count].elementsEqual(preface[..<count]) else { return .http1(takeBytes()) }
        guard count == preface.count else { return .undecided }
        return .http2(takeBytes())
    }

    /// Removes and returns the bytes received so far. Called if the client ended its stream before the HTTP version was
    /// decided.
    mutating func takeBytes() -> ArraySlice<UInt8> {
        defer { bytes = [] }
        return bytes[...]
    }
}
