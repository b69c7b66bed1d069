/// The properties of a request and its connection that determine whether the request can be sent again.
package struct RetryContext: Equatable, Sendable {
    /// The content of the request.
    package enum Content: Equatable, Sendable {
        case none
        /// Data or a file, which can be read again.
        case repeatable
        /// A stream. If any of it has been read, the program must provide a new stream.
        case stream(isRead: Bool)
    }

    /// The state of the connection when it was chosen.
    package enum Connection: Sendable {
        case new
        /// The connection has carried an earlier request, so the peer may have closed it in the meantime.
        case reused
    }

    package var method: String
    package var content: Content
    package var connection: Connection
    /// Whether any byte of the request may have been sent.
    package var wasSent: Bool
    /// Whether the request was sent as TLS early data (RFC 8446 §2.3).
    package var usedEarlyData: Bool
    /// The retries of this request so far.
    package var counts: RetryCounts

    package init(
        method: String, content: Content = .none, connection: Connection = .reused, wasSent: Bool = true,
        usedEarlyData: Bool = false, counts: RetryCounts = RetryCounts()
    ) {
        self.method = method
        self.content = content
        self.connection = connection
        self.wasSent = wasSent
        self.usedEarlyData = usedEarlyData
        self.counts = counts
    }
}

/// The number of retries of a request, by reason. A reason does not use up the retries that another one permits.
package struct RetryCounts: Equatable, Sendable {
    /// Retries of a request that the peer may have processed, or that it answered.
    package var repeated = 0
    /// Retries of a request that the peer received and provably did not process.
    package var refused = 0
    /// Retries of a request of which nothing was sent.
    package var notStarted = 0
    /// Retries of a request that came after the last one which a connection accepted.
    package var goneAway = 0

    package init(repeated: Int = 0, refused: Int = 0, notStarted: Int = 0, goneAway: Int = 0) {
        self.repeated = repeated
        self.refused = refused
        self.notStarted = notStarted
        self.goneAway = goneAway
    }

    /// Counts a retry.
    package mutating func count(_ occasion: RetryOccasion) {
        switch occasion {
        case .notStarted: notStarted += 1
        case .goneAway: goneAway += 1
        case .refusedStream, .requiresHTTP1: refused += 1
        case .closedBeforeAnswer, .closedInAnswer, .answered: repeated += 1
        }
    }
}

/// The event that may cause a retry: the exchange ended before its response was complete, or a response permits a retry.
package enum RetryOccasion: Equatable, Sendable {
    /// The connection ended, or began to shut down, after it was chosen for the request and before anything was sent.
    case notStarted
    /// The connection ended before the first byte of the response.
    case closedBeforeAnswer
    /// The connection ended in the middle of the response.
    case closedInAnswer
    /// GOAWAY names a last stream below this one, so the peer did not process the request (RFC 9113 §6.8). It accepted an earlier one.
    case goneAway
    /// RST_STREAM with REFUSED_STREAM (RFC 9113 §8.7), or GOAWAY of a connection that accepted no request.
    case refusedStream
    /// RST_STREAM with HTTP_1_1_REQUIRED (RFC 9113 §7).
    case requiresHTTP1
    /// The final response has this status.
    case answered(status: Int)
}

/// The decision about sending a request again.
package enum RetryDecision: Equatable, Sendable {
    /// The connection that the retry must use.
    package enum Route: Sendable {
        /// Any connection.
        case any
        /// A connection that has not carried a request.
        case newConnection
        /// A connection that was established for the request's own host, not one for another host name (RFC 9110 §7.4).
        case ownConnection
        /// An HTTP/1.1 connection.
        case http1
        /// Any connection, but not in early data (RFC 8470 §5.2).
        case withoutEarlyData
    }

    /// Report the failure or deliver the response.
    case end
    /// Send the request again.
    ///
    /// - Parameter needsNewStream: The program must provide its content stream again. If it has none, the task fails.
    case retry(Route, needsNewStream: Bool)
}

/// The rules for sending a request again without asking the program (RFC 9110 §9.2.2).
package enum RetryRules {
    /// The maximum number of retries of a request that the peer provably did not process.
    package static let unprocessedLimit = 5
    /// The maximum number of retries of a request behind others that a connection accepted: the number of those that a connection may carry
    /// before the server's limit is known. A server may close each connection after one of them.
    package static let goneAwayLimit = 100
    /// The maximum number of retries of a request of which nothing was sent. The limit ends the attempts at a server that closes every
    /// connection at once.
    package static let notStartedLimit = 20

    /// Decides whether a request is sent again, and how.
    package static func decide(_ occasion: RetryOccasion, _ context: RetryContext) -> RetryDecision {
        switch occasion {
        case .notStarted:
            return context.counts.notStarted < notStartedLimit ? again(.any, context) : .end
        case .closedBeforeAnswer:
            guard context.connection == .reused, context.counts.repeated == 0 else { return .end }
            guard isIdempotent(context.method) || !context.wasSent else { return .end }
            return again(.newConnection, context)
        // A part of the response has already been delivered.
        case .closedInAnswer: return .end
        case .goneAway:
            return context.counts.goneAway < goneAwayLimit ? again(.any, context) : .end
        case .refusedStream:
            return context.counts.refused < unprocessedLimit ? again(.any, context) : .end
        case .requiresHTTP1:
            return context.counts.refused < unprocessedLimit ? again(.http1, context) : .end
        case .answered(let status): return decide(status: status, context)
        }
    }

    private static func decide(status: Int, _ context: RetryContext) -> RetryDecision {
        guard context.counts.repeated == 0 else { return .end }
        switch status {
        // The server stopped waiting for a request. On a reused connection, it may have timed out before this request arrived
        // (RFC 9110 §15.5.9).
        case 408 where context.connection == .reused && isIdempotent(context.method):
            return again(.newConnection, context)
        // The server did not process the request, so any method can be repeated (RFC 9110 §15.5.20).
        case 421: return again(.ownConnection, context)
        // The server did not process the request, because early data could be a replay (RFC 8470 §5.2). Without early data of this client, it
        // can be that of a proxy in front of the server, so only safe methods are repeated.
        case 425 where context.usedEarlyData || isSafe(context.method): return again(.withoutEarlyData, context)
        default: return .end
        }
    }

    private static func again(_ route: RetryDecision.Route, _ context: RetryContext) -> RetryDecision {
        .retry(route, needsNewStream: context.content == .stream(isRead: true))
    }

    /// Returns whether requests with this method change nothing at the server (RFC 9110 §9.2.1).
    package static func isSafe(_ method: String) -> Bool {
        switch method {
        case "GET", "HEAD", "OPTIONS", "TRACE": true
        default: false
        }
    }

    /// Returns whether repeated requests with this method have the same effect as one (RFC 9110 §9.2.2). Method names are case-sensitive.
    package static func isIdempotent(_ method: String) -> Bool {
        switch method {
        case "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE": true
        default: false
        }
    }
}
