/// Ends the process after a programming error in the calling code.
package enum Misuse {
    /// Ends the process with a reason on standard error. In optimized builds `precondition` would not print the reason.
    package static func stop(_ reason: String) -> Never {
        let line = Array((reason + "\n").utf8)
        _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
        preconditionFailure(reason)
    }
}
