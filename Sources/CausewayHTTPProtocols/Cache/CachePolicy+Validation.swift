package import CausewayWire

extension CachePolicy {
    /// How the response to a request that uses the cache is used (RFC 9111 §4.3.3, RFC 5861 §4).
    package enum Judgement: Equatable, Sendable {
        /// The response is for the program.
        case deliver
        /// The response to HEAD is for the program, and shows whether a stored response to GET is still current (RFC 9111 §4.3.5).
        case deliverAndCompare
        /// The stored response is delivered instead of the error.
        case deliverStale
        /// The server has confirmed the stored response.
        case confirm
        /// The server has confirmed a response other than the stored one. The stored response is removed, and the
        /// request is sent again without a condition.
        case sendAgain
    }

    /// Judges a final response.
    ///
    /// - Parameters:
    ///   - request: The request fields.
    ///   - validated: The stored response whose validators the request carries; `nil` if it has no condition of the cache.
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
