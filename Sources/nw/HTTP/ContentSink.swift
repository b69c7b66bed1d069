import Causeway
import CausewayHTTP
import CausewaySystem
import CausewayTypes
import CausewayWire
import FoundationEssentials

/// The destination of received content.
struct ContentDestination: Sendable {
    enum Place: Equatable, Sendable {
        /// Standard output, with text prepared for a terminal if it is one.
        case automatic
        /// Standard output without any change.
        case standardOutput
        /// The file, which is replaced.
        case file(String)
        /// The file, from this position on. The content before it is kept.
        case rest(String, from: UInt64)
        /// Kept in memory for the JSON object.
        case memory
    }

    var place = Place.automatic
    /// Whether to refuse a file that is a symbolic link, because the server's URL chose its name.
    var isNameFromURL = false
}

/// Writes content to its destination.
///
/// Files are written on a thread of their own, while the next content arrives.
final class ContentSink {
    /// The maximum number of bytes for the JSON object.
    static let memoryLimit = 1 << 20

    private enum Kind {
        case descriptor(OutputFile)
        case terminal(TerminalContent)
        case memory(Data)
    }

    private var kind: Kind
    private let thread = FileThread("nw.http.output")
    private(set) var count = 0

    /// - Parameter type: The value of `Content-Type`, which decides how a terminal shows the content.
    init(_ destination: ContentDestination, type: String?) throws {
        switch destination.place {
        case .automatic where OpenFile.standardOutput.kind == .terminal: kind = .terminal(TerminalContent(type: type))
        case .automatic, .standardOutput: kind = .descriptor(OutputFile(.standardOutput))
        case .memory: kind = .memory(Data())
        case .file(let path), .rest(let path, _):
            do {
                var position: UInt64?
                if case .rest(_, let from) = destination.place { position = from }
                let file = try OpenFile(
                    storingAt: path, keeping: position, followsLinks: !destination.isNameFromURL)
                kind = .descriptor(OutputFile(file))
            } catch {
                throw HTTPCommandFailure(.write, "cannot write \(path): \(describe(error))")
            }
        }
    }

    /// The content that was kept for the JSON object.
    var memory: Data { if case .memory(let data) = kind { data } else { Data() } }

    /// Writes the head of a response before the content.
    func write(_ head: HTTPResponseHead) async throws {
        switch kind {
        case .descriptor:
            let lines = HTTPHeadText.lines(head).map { $0 + "\r\n" }.joined() + "\r\n"
            try await write([Data(lines.utf8)], isContent: false)
        case .terminal: printLine(HTTPHeadText.colored(head) + "\n")
        case .memory: break
        }
    }

    func write(_ pieces: [Data], isContent: Bool = true) async throws {
        if isContent { count += pieces.reduce(0) { $0 + $1.count } }
        switch kind {
        case .descriptor(let file):
            do {
                try await thread.run { for piece in pieces { try file.write(piece) } }
            } catch let error where !(error is CancellationError) {
                throw HTTPCommandFailure(.write, "cannot write the content: \(describe(error))")
            }
        case .terminal(var content):
            for piece in pieces {
                if count == pieces.reduce(0, { $0 + $1.count }), TerminalContent.isBinary(piece) {
                    throw HTTPCommandFailure(
                        .write, "the content is binary; store it with -o FILE, or write it to the terminal with -o -")
                }
                try await show(content.text(piece))
            }
            kind = .terminal(content)
        case .memory(var data):
            // The enumeration must not hold a second reference while the data grows.
            kind = .memory(Data())
            for piece in pieces { data += piece }
            kind = .memory(data)
            guard data.count <= Self.memoryLimit else {
                throw HTTPCommandFailure(.tooLarge, "the content is too large for --json; store it with -o FILE")
            }
        }
    }

    func finish() async throws {
        guard case .terminal(var content) = kind else { return }
        try await show(content.finish())
        kind = .terminal(content)
    }

    private func show(_ text: PrintableText) async throws {
        guard !text.isEmpty else { return }
        try await thread.run { try OpenFile.standardOutput.put(text) }
    }
}

/// An open file that the closures of a file thread share.
final class OutputFile: Sendable {
    private let file: OpenFile

    init(_ file: consuming OpenFile) { self.file = file }

    func write(_ data: Data) throws { try file.writeAll(data) }
}
