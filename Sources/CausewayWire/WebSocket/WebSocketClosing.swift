/// A close code: a number for the reason why the connection is closed (RFC 6455 §7.4).
package struct WebSocketCloseCode: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let normalClosure = WebSocketCloseCode(rawValue: 1000)
    package static let goingAway = WebSocketCloseCode(rawValue: 1001)
    package static let protocolError = WebSocketCloseCode(rawValue: 1002)
    package static let unsupportedData = WebSocketCloseCode(rawValue: 1003)
    /// The code for a received close frame without a code. It is reported to the program and is never sent.
    package static let noStatusReceived = WebSocketCloseCode(rawValue: 1005)
    /// The connection has ended without a close frame. This value is reported to the program and is never sent.
    package static let abnormalClosure = WebSocketCloseCode(rawValue: 1006)
    package static let invalidFramePayloadData = WebSocketCloseCode(rawValue: 1007)
    package static let policyViolation = WebSocketCloseCode(rawValue: 1008)
    package static let messageTooBig = WebSocketCloseCode(rawValue: 1009)
    package static let mandatoryExtension = WebSocketCloseCode(rawValue: 1010)
    package static let internalServerError = WebSocketCloseCode(rawValue: 1011)

    /// Whether a close frame may contain the code. Permitted are the RFC 6455 §7.4.1 codes, the registered codes 1012
    /// to 1014, and the ranges for libraries and applications (RFC 6455 §7.4.2).
    package var isAllowedOnWire: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}

/// A close frame's payload (RFC 6455 §5.5.1).
package struct WebSocketClosing: Equatable, Sendable {
    /// Maximum reason size in bytes.
    package static let maximumReasonLength = WebSocketFrameHeader.maximumControlLength - 2

    /// The reason why bytes are not a valid close frame payload.
    package enum Mistake: Error, Equatable, Sendable {
        /// The payload is a single byte, or has a code that must not be sent.
        case code
        /// The reason in the payload is not UTF-8.
        case text
    }

    /// The close code; `nil` if the frame has no payload.
    package var code: WebSocketCloseCode?
    package var reason: String

    package init(code: WebSocketCloseCode? = nil, reason: String = "") {
        self.code = code
        self.reason = reason
    }

    package init(parsing payload: [UInt8]) throws(Mistake) {
        guard payload.count != 1 else { throw .code }
        guard payload.count >= 2 else {
            self.init()
            return
        }
        let code = WebSocketCloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        guard code.isAllowedOnWire else { throw .code }
        var validator = UTF8Validator()
        guard validator.accepts(payload[2...]), validator.isAtBoundary else { throw .text }
        self.init(code: code, reason: String(decoding: payload[2...], as: UTF8.self))
    }

    /// Encodes the payload. If the code must not be sent, the payload is empty. A reason that is too long is truncated
    /// at a character boundary.
    package var payload: [UInt8] {
        guard let code, code.isAllowedOnWire else { return [] }
        var bytes: [UInt8] = []
        bytes.append(bigEndian: code.rawValue)
        for scalar in reason.unicodeScalars {
            let encoded = UTF8.encode(scalar).map(Array.init) ?? []
            guard bytes.count + encoded.count <= Self.maximumReasonLength + 2 else { break }
            bytes += encoded
        }
        return bytes
    }
}
