/// One attempt to get an answer from one server.
struct DNSAttempt: Equatable {
    var server: DNSServer
    var round: Int
    /// Whether the attempt only repeats an earlier query in another form, for example without EDNS. The attempt is
    /// skipped if the server has already answered, or if the server cannot be reached.
    var isSpare = false
}

/// The attempts to get a response to one query, in order.
struct DNSAttemptPlan {
    private var attempts: [DNSAttempt]
    private var position = 0

    init(_ attempts: [DNSAttempt]) { self.attempts = attempts }

    /// The next attempt; `nil` if none is left.
    var next: DNSAttempt? { position < attempts.count ? attempts[position] : nil }
    var isAtLast: Bool { position + 1 == attempts.count }

    mutating func advance() { position += 1 }

    /// Moves back by one, so that the latest attempt is made again.
    mutating func stepBack() { position = max(0, position - 1) }

    /// Removes the attempts that only repeat the query to `server` in another form, for example without EDNS. Called
    /// when another form would not help: the server has answered or could not be reached.
    mutating func dropSpares(of server: DNSServer) {
        let left = attempts.dropFirst(position).filter { !$0.isSpare || $0.server != server }
        attempts = attempts.prefix(position) + left
    }

    /// Adds another attempt with a server that sent an unusable response.
    mutating func addSpare(_ server: DNSServer) {
        guard !attempts.dropFirst(position).contains(where: { $0.server == server }) else { return }
        attempts.append(DNSAttempt(server: server, round: attempts.last?.round ?? 0, isSpare: true))
    }
}
