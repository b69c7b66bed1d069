import Causeway
import FoundationEssentials

/// Standard input to a WebSocket line by line, its messages to standard output.
struct WebSocketRelay: Sendable {
    private enum End { case input, peer }

    /// The most bytes of a line, and of a read.
    private static let longestLine = 1 << 20
    private static let chunk = 65_536

    let connection: NWConnection
    let options: CatOptions

    /// Returns when the peer has closed, or all input was sent and the end of it is to be the end.
    func run() async throws {
        try await withThrowingTaskGroup(of: End.self) { group in
            if options.readsInput {
                group.addTask {
                    try await upload()
                    return .input
                }
            }
            group.addTask {
                try await download()
                return .peer
            }
            defer {
                // The children's calls return only when the connection ends.
                connection.cancel()
                group.cancelAll()
            }
            while let end = try await group.next() { if end == .peer { return } }
        }
    }

    private func upload() async throws {
        var rest = Data()
        while let chunk = try await StandardInput.shared.next(atMost: Self.chunk) {
            rest.append(chunk)
            while let newline = rest.firstIndex(of: 10) {
                try await send(rest[..<newline])
                rest = Data(rest[(newline + 1)...])
            }
            if rest.count > Self.longestLine {
                throw CommandFailure("a line of input is longer than \(Self.longestLine) bytes")
            }
        }
        if !rest.isEmpty { try await send(rest) }
        if options.closesAfterInput { try await send(Data(), .close) }
    }

    /// What is no text goes as binary.
    private func send(_ line: Data) async throws {
        var line = line
        if line.last == 13 { line = line.dropLast() }
        try await send(Data(line), String(validating: line, as: UTF8.self) == nil ? .binary : .text)
    }

    private func send(_ content: Data, _ opcode: NWProtocolWebSocket.Opcode) async throws {
        let metadata = NWProtocolWebSocket.Metadata(opcode: opcode)
        let context = NWConnection.ContentContext(identifier: "nw.cat", metadata: [metadata])
        do {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                connection.send(
                    content: content, contentContext: context,
                    completion: .contentProcessed { error in
                        continuation.resume(with: error.map { .failure($0) } ?? .success(()))
                    })
            }
        } catch {
            throw CommandFailure("send to \(connection.endpoint.label) failed", error)
        }
    }

    private func download() async throws {
        while let (content, opcode) = try await receive() {
            switch opcode {
            case .text: try await StandardOutput.write(content + [10])
            case .binary: try await StandardOutput.write(content)
            case .close:
                if options.isVerbose, !content.isEmpty {
                    printError("nw: cat: closed: \(String(decoding: content, as: UTF8.self))")
                }
            case .cont, .ping, .pong, nil: break
            }
        }
    }

    /// The next message, or `nil` at the end.
    private func receive() async throws -> (Data, NWProtocolWebSocket.Opcode?)? {
        do {
            return try await withCheckedThrowingContinuation { continuation in
                connection.receiveMessage { content, context, _, error in
                    let found = context?.protocolMetadata(definition: NWProtocolWebSocket.definition)
                    let opcode = (found as? NWProtocolWebSocket.Metadata)?.opcode
                    if context?.isFinal == true, content == nil, opcode == nil {
                        continuation.resume(returning: nil)
                    } else if let error {
                        continuation.resume(throwing: error)
                    } else {
                        continuation.resume(returning: (content ?? Data(), opcode))
                    }
                }
            }
        } catch {
            throw CommandFailure("receive from \(connection.endpoint.label) failed", error)
        }
    }
}
