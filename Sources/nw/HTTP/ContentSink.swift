import Causeway
import CausewayHTTP
import CausewaySystem
import CausewayTypes
import CausewayWire
import FoundationEssentials

/// Where received content is written.
struct ContentDestination: Sendable {
    enum Place: Equatable, Sendable {
        /// Standard output. If it is a terminal, text is made safe for display.
        case automatic
        /// Standard output; the content is not changed.
        case standardOutput
        /// A file, whose earlier content is replaced.
        case file(String)
        /// A file, starting at this position. The content before it is kept.
        case rest(String, from: UInt64)
        /// Keeps the content in memory. The command includes it in its JSON output.
        case memory
    }

    var place = Place.automatic
    /// Whether the URL determines the file name. If so, a symbolic link with this name is refused.
    var isNameFromURL = false
}

/// Writes content to its destination. The calls may block.
struct ContentSink: ~Copyable {
    /// The maximum content size in the JSON object, in bytes.
    static let memoryLimit = 1 << 20

    private enum Kind: ~Copyable {
        case descriptor(OpenFile)
        case terminal
        case memory
    }

    private let kind: Kind
    private var text: TerminalContent
    /// The content bytes stored for the JSON output.
    private(set) var memory = Data()
    private(set) var count = 0

    /// - Parameter type: The `Content-Type` value, which decides how a terminal shows the content.
    init(_ destination: ContentDestination, type: String?) throws {
        text = TerminalContent(type: type)
        switch destination.place {
        case .automatic where OpenFile.standardOutput.kind == .terminal: kind = .terminal
        case .automatic, .standardOutput: kind = .descriptor(.standardOutput)
        case .memory: kind = .memory
        case .file(let path): kind = .descriptor(try Self.open(path, nil, destination))
        case .rest(let path, let position): kind = .descriptor(try Self.open(path, position, destination))
        }
    }

    private static func open(_ path: String, _ position: UInt64?, _ destination: ContentDestination) throws -> OpenFile
    {
        do {
            return try OpenFile(storingAt: path, keeping: position, followsLinks: !destination.isNameFromURL)
        } catch {
            throw HTTPCommandFailure(.write, "cannot write \(path): \(describe(error))")
        }
    }

    /// Writes a response head to the destination. The content follows.
    func write(_ head: HTTPResponseHead) throws {
        switch kind {
        case .descriptor(let file):
            let lines = HTTPHeadText.lines(head).map { $0 + "\r\n" }.joined() + "\r\n"
            try Self.write(Data(lines.utf8), to: file)
        case .terminal: printLine(HTTPHeadText.colored(head) + "\n")
        case .memory: break
        }
    }

    /// Writes the next chunk of content.
    mutating func write(_ piece: Data) throws {
        let isFirst = count == 0
        count += piece.count
        switch kind {
        case .descriptor(let file): try Self.write(piece, to: file)
        case .terminal:
            if isFirst, TerminalContent.isBinary(piece) {
                throw HTTPCommandFailure(
                    .write, "the content is binary; store it with -o FILE, or write it to the terminal with -o -")
            }
            try OpenFile.standardOutput.put(text.text(piece))
        case .memory:
            guard count <= Self.memoryLimit else {
                throw HTTPCommandFailure(.tooLarge, "the content is too large for --json; store it with -o FILE")
            }
            memory += piece
        }
    }

    /// On a terminal, writes the text that is still buffered.
    mutating func finish() throws {
        switch kind {
        case .terminal: try OpenFile.standardOutput.put(text.finish())
        case .descriptor: break
        case .memory: break
        }
    }

    private static func write(_ piece: Data, to file: borrowing OpenFile) throws {
        do { try file.writeAll(piece) } catch {
            throw HTTPCommandFailure(.write, "cannot write the content: \(describe(error))")
        }
    }
}
