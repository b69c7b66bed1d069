/// How a new process continues a stored transfer.
package enum TransferRecovery: Equatable, Sendable {
    /// The result is complete, but must still be delivered to the program.
    case deliver
    /// The program has already taken the result file. The new process must only report the end of the transfer.
    case handedOver
    /// The download resumes at this byte offset.
    case resume(from: Int64)
    /// The transfer starts from the beginning.
    case startOver

    /// A transfer's lifecycle stage.
    package enum Stage: String, CaseIterable, Sendable {
        /// No attempt has been made.
        case created
        /// At least one attempt has begun.
        case begun
        /// The response and its content are complete.
        case finished
    }

    /// A download's stored state.
    package struct Facts: Sendable {
        package var stage: Stage
        /// The content file's size in bytes; `nil` if there is no file.
        package var size: Int64?
        /// The full content length in bytes; `nil` if it is unknown.
        package var total: Int64?
        /// The number of content bytes known to be on stable storage.
        package var durable: Int64
        /// Whether the system has not rebooted since the file was written. After a reboot, bytes beyond ``durable`` can be garbage.
        package var isSameBoot: Bool
        /// Whether a strong validator is known (RFC 9110 §8.8.1), so that the server can detect changed content.
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

    /// Decides from a download's stored state how to continue.
    package init(_ facts: Facts) {
        switch facts.stage {
        case .finished: self = facts.size == nil ? .handedOver : .deliver
        case .created, .begun:
            let size = facts.size ?? 0
            let usable = facts.isSameBoot ? size : min(size, max(facts.durable, 0))
            // The requested range must start at an existing byte (RFC 9110 §14.1.2). If the stored content may be
            // complete, start at its last byte.
            let offset = facts.total.map { usable < $0 ? usable : $0 - 1 } ?? usable - 1
            let isFitting = usable <= facts.total ?? .max
            self = facts.hasValidator && isFitting && offset > 0 ? .resume(from: offset) : .startOver
        }
    }
}
