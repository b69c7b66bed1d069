/// One attempt to get an answer from one server.
struct DNSAttempt: Equatable {
    var server: DNSServer
    var round: Int
    /// Whether the attempt only repeats the query in another form, for example without EDNS. Such an attempt is skipped
    /// if the server has answered or cannot be reached.
    var isSpare = false
}

/// The attempts to get one answer, in order.
struct DNSAttemptPlan {
    private var attempts: [DNSAttempt]
    private var position = 0

    init(_ attempts: [DNSAttempt]) { self.attempts = attempts }

    /// The next attempt; `nil` if none is left.
    var next: DNSAttempt? { position < attempts.count ? attempts[position] : nil }
    var isAtLast: Bool { position + 1 == attempts.count }

    mutating func advance() { position += 1 }

    /// Repeats the latest attempt.
    mutating func stepBack() { position = max(0, position - 1) }

    /// Removes the attempts that only repeat the query to this server in another form, for example without EDNS. Called
    /// after the server has answered or could not be reached: another form would not help.
    mutating func dropSpares(of server: DNSServer) {
        let left = attempts.dropFirst(position).filter { !$0.isSpare || $0.server != server }
        attempts = attempts.prefix(position) + left
    }

    /// Adds an attempt with a server whose last response was not usable.
    mutating func addSpare(_ server: DNSServer) {
        guard !attempts.dropFirst(position).contains(where: { $0.server == server }) else { return }
        attempts.append(DNSAttempt(server: server, round: attempts.last?.round ?? 0, isSpare: true))
    }
}
