package import CausewayWire

extension CachePolicy {
    /// How the cache treats a response from the server (RFC 9111 §4.3.3, RFC 5861 §4).
    package enum Judgement: Equatable, Sendable {
        /// Deliver the response to the program.
        case deliver
        /// Deliver this response to a HEAD request. Also compare it with the stored GET response, which may be outdated
        /// (RFC 9111 §4.3.5).
        case deliverAndCompare
        /// Deliver the stored response instead of the error.
        case deliverStale
        /// The server has confirmed the stored response, which is delivered.
        case confirm
        /// The server has confirmed a response other than the stored response. The stored response is removed, and the
        /// request is sent again without a condition.
        case sendAgain
    }

    /// Decides what to do with a final response.
    ///
    /// - Parameters:
    ///   - request: The request fields.
    ///   - validated: The stored response whose validators the request carries; `nil` if the cache added no condition.
    ///   - fallback: A stored response without a validator, which can replace an error.
    package static func judge(
        method: String, request: FieldSection, status: Int, fields: FieldSection, validated: StoredResponse?,
        fallback: StoredResponse?, at now: Int
    ) -> Judgement {
        if isError(status), let stored = validated ?? fallback, permitsStaleAfterError(request, stored, at: now) {
            return .deliverStale
        }
        guard let validated else { return method == "HEAD" && status == 200 ? .deliverAndCompare : .deliver }
        guard status == 304 else { return .deliver }
        return validated.isConfirmed(by: fields) ? .confirm : .sendAgain
    }
}
