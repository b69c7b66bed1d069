import ArgumentParser
import Causeway
import CausewaySystem
import CausewayTypes

/// Ends a command with exit code 1 and one line on standard error.
struct CommandFailure: Error {
    let message: PrintableText

    init(_ message: PrintableText) {
        self.message = message
    }

    /// Creates a failure with an event and the reason, such as `connection to 127.0.0.1:1 failed: Connection refused`.
    init(_ event: PrintableText, _ error: any Error) {
        self.message = "\(event): \(describe(error))"
    }
}

/// Describes an error, without its code and domain.
func describe(_ error: any Error) -> PrintableText {
    if let failure = error as? CommandFailure { return failure.message }
    guard let error = error as? NWError else { return PrintableText(foreign: String(describing: error)) }
    if case .dns(let code) = error, let text = DNSErrorText.table[code] { return text }
    let text = error.debugDescription
    // The error's text looks like "POSIXErrorCode(rawValue: 111): Connection refused": the message follows the last
    // colon.
    guard let colon = text.lastIndex(of: ":") else { return PrintableText(foreign: text) }
    return PrintableText(foreign: text[text.index(after: colon)...].drop(while: { $0 == " " }))
}

/// Runs a command. An error from it is printed as one line on standard error, and the exit code is 1.
func reporting(_ command: String, _ body: () async throws -> Void) async throws {
    // Ignore SIGPIPE, so that a write to a closed pipe fails with EPIPE instead of ending the process silently.
    _ = signal(SIGPIPE, SIG_IGN)
    do {
        try await body()
    } catch let code as ExitCode {
        throw code
    } catch let error as ValidationError {
        throw error
    } catch {
        StatusLine.leave()
        printError("nw: \(command): \(describe(error))")
        throw ExitCode.failure
    }
}

/// Writes one line to standard error.
func printError(_ line: PrintableText) {
    // Ignore a failed write to standard error, because there is no other output that could report the failure.
    try? StatusLine.aside { try OpenFile.standardError.put(line + "\n") }
}
