/// The properties that determine whether a request can be retried. They belong to the request and its connection.
package struct RetryContext: Equatable, Sendable {
    /// The request content.
    package enum Content: Equatable, Sendable {
        case none
        /// Data or a file, which can be read again.
        case repeatable
        /// A body stream. Once any of it has been read, the program must provide a new stream.
        case stream(isRead: Bool)
    }

    /// Whether the chosen connection was new or reused.
    package enum Connection: Sendable {
        case new
        /// The connection has carried an earlier request. The peer may have closed it since then.
        case reused
    }

    package var method: String
    package var content: Content
    package var connection: Connection
    /// Whether any request byte may have been sent.
    package var wasSent: Bool
    /// Retries so far.
    package var counts: RetryCounts

    package init(
        method: String, content: Content = .none, connection: Connection = .reused, wasSent: Bool = true,
        counts: RetryCounts = RetryCounts()
    ) {
        self.method = method
        self.content = content
        self.connection = connection
        self.wasSent = wasSent
        self.counts = counts
    }
}

/// A request's retries, by reason. Each reason has its own limit.
package struct RetryCounts: Equatable, Sendable {
    /// Retries after attempts that the peer may have processed. This includes attempts to which the peer has responded.
    package var repeated = 0
    /// Retries after the peer received the request and provably did not process it.
    package var refused = 0
    /// The number of retries after attempts that had not sent any byte.
    package var notStarted = 0
    /// The number of retries after GOAWAY frames which show that the peer did not process the request.
    ///
    /// On the same connection, the peer had accepted an earlier request.
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

/// An event after which a request may be retried.
///
/// Either the exchange ended before the response was complete, or the response permits a retry.
package enum RetryOccasion: Equatable, Sendable {
    /// The request's connection ended, or began to shut down, before any part of the request was sent.
    case notStarted
    /// The connection ended before the response's first byte.
    case closedBeforeAnswer
    /// The connection ended within the response.
    case closedInAnswer
    /// The request's stream is above GOAWAY's last stream identifier, so the peer did not process the request
    /// (RFC 9113 §6.8). The peer accepted an earlier request on the connection.
    case goneAway
    /// The peer refused the request. It sent RST_STREAM with REFUSED_STREAM (RFC 9113 §8.7), or GOAWAY on a connection
    /// that had accepted no request.
    case refusedStream
    /// The peer sent RST_STREAM with HTTP_1_1_REQUIRED (RFC 9113 §7).
    case requiresHTTP1
    /// The final response has this status.
    case answered(status: Int)
}

/// Whether and how to retry a request.
package enum RetryDecision: Equatable, Sendable {
    /// The connection to use for the retry.
    package enum Route: Sendable {
        /// Any connection.
        case any
        /// A connection that has not carried a request.
        case newConnection
        /// An HTTP/1.1 connection.
        case http1
        /// Any connection. The request must not be sent as early data (RFC 8470 §5.2).
        case withoutEarlyData
    }

    /// Do not retry. Report the failure, or deliver the response if there is one.
    case end
    /// Retry the request.
    ///
    /// - Parameter needsNewStream: The program must provide its content stream again. Without a new stream, the task fails.
    case retry(Route, needsNewStream: Bool)
}

/// The rules for retrying a request without asking the program (RFC 9110 §9.2.2, RFC 9112 §9.3.1).
package enum RetryRules {
    /// The maximum number of retries for a request that the peer provably did not process.
    package static let unprocessedLimit = 5
    /// The maximum number of retries after GOAWAY.
    ///
    /// A client may send this number of requests on a connection before it knows the server's limit. A server may
    /// accept only one request per connection. In that case, the last request is retried almost this number of times.
    package static let goneAwayLimit = 100
    /// The maximum number of retries for a request of which no byte was sent. Without a limit, the retries would never
    /// end if a server closed every connection immediately.
    package static let notStartedLimit = 20

    /// Decides whether and how to retry a request.
    package static func decide(_ occasion: RetryOccasion, _ context: RetryContext) -> RetryDecision {
        switch occasion {
        case .notStarted:
            return context.counts.notStarted < notStartedLimit ? again(.any, context) : .end
        case .closedBeforeAnswer:
            guard context.connection == .reused, context.counts.repeated == 0 else { return .end }
            guard isIdempotent(context.method) || !context.wasSent else { return .end }
            return again(.newConnection, context)
        // Do not retry, because part of the response has already been delivered.
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
        // The server waited for a request too long. On a reused connection, the server may have sent this status before
        // the request arrived (RFC 9110 §15.5.9).
        case 408 where context.connection == .reused && isIdempotent(context.method):
            return again(.newConnection, context)
        // The server did not process the request, so any method can be retried (RFC 9110 §7.4, §15.5.20).
        case 421: return again(.newConnection, context)
        // The server rejected early data because an attacker could replay it (RFC 8470 §5.2). Either this client or a
        // proxy in front of the server had sent the early data. In both cases, a request with a safe method can be
        // retried without early data.
        case 425 where isSafe(context.method): return again(.withoutEarlyData, context)
        default: return .end
        }
    }

    private static func again(_ route: RetryDecision.Route, _ context: RetryContext) -> RetryDecision {
        .retry(route, needsNewStream: context.content == .stream(isRead: true))
    }

    /// Returns whether the method is safe: its requests change nothing at the server (RFC 9110 §9.2.1).
    package static func isSafe(_ method: String) -> Bool {
        switch method {
        case "GET", "HEAD", "OPTIONS", "TRACE": true
        default: false
        }
    }

    /// Returns whether the method is idempotent: repeated requests have the same effect as one (RFC 9110 §9.2.2).
    /// Method names are case-sensitive.
    package static func isIdempotent(_ method: String) -> Bool {
        switch method {
        case "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE": true
        default: false
        }
    }
}
