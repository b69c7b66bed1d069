/// What happens to a stored transfer when a process takes it over.
package enum TransferRecovery: Equatable, Sendable {
    /// The result is complete and waits for the program.
    case deliver
    /// The program has taken the file of the result. Only the end remains to be reported.
    case handedOver
    /// The download continues after this many bytes.
    case resume(from: Int64)
    /// The transfer starts from the beginning.
    case startOver

    /// How far a transfer has come.
    package enum Stage: String, CaseIterable, Sendable {
        /// No attempt has been made.
        case created
        /// At least one attempt has begun.
        case begun
        /// The response and its content are complete.
        case finished
    }

    /// The facts about a download in the store.
    package struct Facts: Sendable {
        package var stage: Stage
        /// The size of the file with the content; `nil` if there is none.
        package var size: Int64?
        /// The length of the whole content; `nil` if it is unknown.
        package var total: Int64?
        /// The number of bytes that are certainly on the medium.
        package var durable: Int64
        /// Whether the computer has run since the file was written. Otherwise bytes behind ``durable`` can be anything.
        package var isSameBoot: Bool
        /// Whether a strong validator is known (RFC 9110 §8.8.1), so that the server can tell whether the content has changed.
        package var hasValidator: Bool

        package init(
            stage: Stage, size: Int64?, total: Int64?, durable: Int64, isSameBoot: Bool, hasValidator: Bool
        ) {
            self.stage = stage
            self.size = size
            self.total = total
            self.durable = durable
            self.isSameBoot = isSameBoot
            self.hasValidator = hasValidator
        }
    }

    /// Decides from the facts.
    package init(_ facts: Facts) {
        switch facts.stage {
        case .finished: self = facts.size == nil ? .handedOver : .deliver
        case .created, .begun:
            let size = facts.size ?? 0
            let usable = facts.isSameBoot ? size : min(size, max(facts.durable, 0))
            // A server has no range behind the last byte (RFC 9110 §14.1.2), so that byte is requested again if it may be there.
            let offset = facts.total.map { usable < $0 ? usable : $0 - 1 } ?? usable - 1
            let isFitting = usable <= facts.total ?? .max
            self = facts.hasValidator && isFitting && offset > 0 ? .resume(from: offset) : .startOver
        }
    }
}
