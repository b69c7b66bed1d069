/// A client's current token. If the server refuses an older token, the current token is kept.
struct TokenState: Sendable {
    /// The consequence of a refused token.
    enum Refusal: Equatable, Sendable {
        /// The server refused an old token, but another token has replaced it since. Use the current token.
        case useCurrent
        /// Request a new token. Callers that used the same token generation share one request.
        case refresh(generation: Int)
        /// Fail the request. The server has also refused the new token, and a further refresh would not help.
        case fail
    }

    /// The current token; `nil` before the first token.
    private(set) var token: String?
    /// The token's generation, starting at 0.
    private(set) var generation = 0

    init(token: String?) { self.token = token }

    /// Replaces a token.
    ///
    /// - Parameter old: The generation of the token that `new` replaces. If that token is no longer the current one,
    ///   `new` is ignored.
    mutating func refreshed(_ new: String, replacing old: Int) {
        guard old == generation else { return }
        token = new
        generation += 1
    }

    /// Evaluates a refusal.
    ///
    /// - Parameters:
    ///   - used: The token in the request.
    ///   - resends: How often the request was repeated after a refusal.
    func refused(_ used: String?, resends: Int) -> Refusal {
        guard resends == 0 else { return .fail }
        return used == token ? .refresh(generation: generation) : .useCurrent
    }
}
