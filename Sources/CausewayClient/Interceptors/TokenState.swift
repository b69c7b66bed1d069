/// A client's token and its replacements. If the server refuses an old token after it was replaced, the new token is
/// kept.
struct TokenState: Sendable {
    /// The consequence of a refused token.
    enum Refusal: Equatable, Sendable {
        /// The token has been replaced meanwhile. Use the current one.
        case useCurrent
        /// Get a new token. All callers with the same generation share one refresh.
        case refresh(generation: Int)
        /// The new token was refused as well. Another refresh would only repeat that.
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
