import Causeway
import CausewaySystem
import CausewayTypes
import FoundationEssentials

/// The process's standard output.
enum StandardOutput {
    private static let thread = FileThread("nw.standard-output")

    /// Writes everything, and returns when the reader at the other end took it or its pipe holds it.
    static func write(_ data: Data) async throws {
        do {
            try await thread.run { try OpenFile.standardOutput.writeAll(data) }
        } catch let error where !(error is CancellationError) {
            throw CommandFailure("write to standard output failed", error)
        }
    }

    static func write(_ text: PrintableText) async throws { try await write(Data(text.text.utf8)) }
}

/// Writes one line to standard output, at once. Ends the process, quietly, where the reader has gone.
func printLine(_ line: PrintableText) {
    do { try OpenFile.standardOutput.put(line + "\n") } catch NWError.posix(.EPIPE) {
        // As a signal would, which this process ignores for the sake of its sockets.
        _exit(128 + SIGPIPE)
    } catch {}
}

extension OpenFile {
    /// The only way of text to a terminal: what peers send is escaped in it.
    func put(_ text: PrintableText) throws {
        var text = text.text
        try text.withUTF8 { try writeAll(UnsafeRawBufferPointer($0)) }
    }
}
